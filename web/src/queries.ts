// What was asked of the API is kept for a moment, and asked again when somebody comes back to the page.
import { focusManager, QueryClient } from '@tanstack/react-query'
import { isConnectionLost, onConnection } from './api/connection'
import { Failure } from './api/failure'

const TRIES = 2

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (tries, error) => tries < TRIES && error instanceof Failure && error.isPassing,
      // The server knows best whether it can be reached.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

// Two windows side by side are both visible: coming back to one of them is a matter of focus.
focusManager.setEventListener((look) => {
  for (const name of ['visibilitychange', 'focus']) addEventListener(name, () => look())
  // For as long as the page is there.
  return () => undefined
})

// What happened while the server could not be reached.
onConnection(() => {
  if (!isConnectionLost()) void queries.invalidateQueries()
})
