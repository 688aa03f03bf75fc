// The console: a client of the public API and nothing more.
import './trusted-types'
import './ui/components.css'
import './ui/app.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { askAhead } from './ahead'
import { styleNonce } from './page'
import { queries } from './queries'
import { router } from './routes'
import { Notices } from './ui/Notices'
import { cssVariables, theme } from './ui/theme'

// Drawers and dialogs keep the page behind them from scrolling by a style of their own, which asks for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce() })

askAhead(router)
createRoot(document.getElementById('root')!).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={cssVariables}
    defaultColorScheme="auto"
    getStyleNonce={styleNonce}
  >
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
      <Notices />
    </QueryClientProvider>
  </MantineProvider>,
)
