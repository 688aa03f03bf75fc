// The tokens: every colour and size of the console. Style sheets and components name these and nothing else.
import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

/** Deep sea blue: what can be acted on. */
const sea: MantineColorsTuple = [
  '#eaf5fb',
  '#d3e9f5',
  '#a9d3ec',
  '#5db2e0',
  '#3f9dd0',
  '#2588be',
  '#1675a8',
  '#0f6898',
  '#0b5c8c',
  '#084768',
]
const gray: MantineColorsTuple = [
  '#f6f8fa',
  '#eef2f6',
  '#e2e8ee',
  '#d2dae3',
  '#b4bfcc',
  '#8593a4',
  '#5c6a7c',
  '#465365',
  '#2c3746',
  '#18212d',
]
const dark: MantineColorsTuple = [
  '#dfe6ee',
  '#bcc7d4',
  '#9aa8ba',
  '#6b7a90',
  '#3c495b',
  '#2a3544',
  '#1e2733',
  '#151c26',
  '#10161f',
  '#0a0f16',
]

/** Colours by their meaning, for each theme. Status also has a shape: see Status.tsx. */
export const COLORS = {
  light: {
    page: '#ffffff',
    raised: '#f6f8fa',
    selected: '#eaf5fb',
    hairline: '#dde4eb',
    edge: '#8593a4',
    text: '#18212d',
    quiet: '#56647a',
    accent: '#0b5c8c',
    delivered: '#1b7f4b',
    running: '#1675a8',
    waiting: '#5c697d',
    held: '#9a6200',
    failed: '#c02b2b',
    skipped: '#5c697d',
    added: '#e3f5ea',
    removed: '#fdeaea',
    marked: '#cfe6f4',
    'code-word': '#0b5c8c',
    'code-text': '#166b3f',
    'code-number': '#9a4a00',
    'code-name': '#6a3fa0',
    'series-1': '#1675a8',
    'series-2': '#b45309',
    'series-3': '#1b7f4b',
    'series-4': '#8a4fbf',
    'series-5': '#c02b2b',
    'series-6': '#0e7f8a',
    'series-7': '#a33b7a',
    'series-8': '#67758a',
  },
  dark: {
    page: '#10161f',
    raised: '#151c26',
    selected: '#16293a',
    hairline: '#2a3544',
    edge: '#6b7a90',
    text: '#dfe6ee',
    quiet: '#9aa8ba',
    accent: '#5db2e0',
    delivered: '#4cc38a',
    running: '#5db2e0',
    waiting: '#93a1b3',
    held: '#e0a63b',
    failed: '#f37b7b',
    skipped: '#93a1b3',
    added: '#12301f',
    removed: '#3a1a1c',
    marked: '#1f425c',
    'code-word': '#7cc4ea',
    'code-text': '#6fce9f',
    'code-number': '#f0b26b',
    'code-name': '#c5a5f0',
    'series-1': '#5db2e0',
    'series-2': '#e0a63b',
    'series-3': '#4cc38a',
    'series-4': '#b48ae6',
    'series-5': '#f37b7b',
    'series-6': '#4cc0cc',
    'series-7': '#e08abf',
    'series-8': '#93a1b3',
  },
} as const

export const SIZES = {
  rail: '216px',
  'rail-folded': '56px',
  gutter: '24px',
  content: '1440px',
  row: '36px',
  'row-compact': '32px',
  control: '32px',
  drawer: '560px',
  form: '560px',
} as const

/** Below this width the rail is a drawer. */
export const NARROW = '56.25em'

export const MOTION = { quick: '120ms', calm: '180ms' } as const

/** Only what floats has one. */
const shadow = '0 8px 28px rgb(8 20 34 / 18%), 0 1px 3px rgb(8 20 34 / 12%)'

/** The head of a dialog is none of the page, and its button has a name. */
const DIALOG = {
  closeButtonProps: { 'aria-label': 'Close' },
  attributes: { header: { role: 'presentation' } },
}

export const theme = createTheme({
  colors: { sea, gray, dark },
  primaryColor: 'sea',
  // Dark enough for white words on it in both themes.
  primaryShade: { light: 8, dark: 6 },
  black: COLORS.light.text,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '18px', xl: '24px' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.4', xl: '1.3' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '3px', sm: '4px', md: '6px', lg: '8px', xl: '12px' },
  defaultRadius: 'md',
  shadows: { xs: 'none', sm: 'none', md: shadow, lg: shadow, xl: shadow },
  headings: {
    fontWeight: '500',
    sizes: {
      h1: { fontSize: '18px', lineHeight: '1.4' },
      h2: { fontSize: '14px', lineHeight: '1.5' },
      h3: { fontSize: '13px', lineHeight: '1.45' },
    },
  },
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'sm' }, vars: () => ({ root: { '--button-height': SIZES.control } }) },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: SIZES.control } },
    Tooltip: {
      defaultProps: { openDelay: 300, multiline: true, maw: 320, transitionProps: { duration: 120 } },
    },
    Modal: { defaultProps: { ...DIALOG, transitionProps: { duration: 120 }, centered: true } },
    Drawer: { defaultProps: { ...DIALOG, transitionProps: { duration: 180 }, position: 'right' } },
    Menu: {
      defaultProps: {
        transitionProps: { duration: 120 },
        shadow: 'md',
        // The focus goes to the first item, not to a nameless element before it.
        withInitialFocusPlaceholder: false,
      },
    },
    Popover: { defaultProps: { transitionProps: { duration: 120 }, shadow: 'md' } },
    Input: { defaultProps: { size: 'sm' }, vars: () => ({ wrapper: { '--input-height': SIZES.control } }) },
    InputWrapper: {
      // Most fields are required: those that are not say so.
      defaultProps: { size: 'sm', withAsterisk: false },
      // The library's own are below 12 px.
      vars: () => ({
        label: {},
        error: { '--input-error-size': 'var(--mantine-font-size-xs)' },
        description: { '--input-description-size': 'var(--mantine-font-size-xs)' },
      }),
    },
    Switch: { defaultProps: { size: 'sm' } },
    Checkbox: { defaultProps: { size: 'sm' } },
    Radio: { defaultProps: { size: 'sm' } },
    SegmentedControl: { defaultProps: { size: 'sm' } },
    Tabs: { defaultProps: { keepMounted: false } },
    Text: { defaultProps: { size: 'md' } },
    Anchor: { defaultProps: { size: undefined, underline: 'hover' } },
    Code: { defaultProps: { fz: 'sm' } },
  },
})

/** As style sheets name them: `var(--ls-quiet)`, `var(--ls-row)`. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: { ...named(SIZES), ...named(MOTION), '--ls-shadow': shadow },
  light: { ...named(COLORS.light), ...mantine(COLORS.light) },
  dark: { ...named(COLORS.dark), ...mantine(COLORS.dark) },
})

/** Colours and sizes share one row of names: none may be in both. */
function named(tokens: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(tokens).map(([name, value]) => [`--ls-${name}`, value]))
}

/** The component library's own names for the same things. */
function mantine(colors: (typeof COLORS)['light' | 'dark']): Record<string, string> {
  return {
    '--mantine-color-body': colors.page,
    '--mantine-color-text': colors.text,
    '--mantine-color-dimmed': colors.quiet,
    '--mantine-color-placeholder': colors.quiet,
    '--mantine-color-error': colors.failed,
    '--mantine-color-anchor': colors.accent,
    '--mantine-color-default-border': colors.hairline,
    '--mantine-color-default-hover': colors.raised,
  }
}
