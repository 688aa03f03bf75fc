// Code that loads and exports nothing that is ever called, as a slip of the pen makes it: events would go past it unseen.
import { editDistance } from '../../lib/spelling.ts'
import type { Offer } from '../../platform/sandbox/sandbox.ts'
import { errorIn, type SourceError } from './source-errors.ts'

const CALLED = [
  'processEvent',
  'onEvent',
  'composeWebhook',
  'exportEvents',
  'runEveryMinute',
  'runEveryHour',
  'runEveryDay',
  'jobs',
]
/** Alone they are an app as well, unless another name is a slip. */
const BESIDE = ['setupPlugin', 'teardownPlugin', 'getSettings']
const MAX_SHOWN = 5
const MAX_LETTERS = 3

/** `hasPages`: there is code for web pages or the console too, which needs none of these. */
export function uncalledErrors(file: string, offer: Offer, hasPages: boolean): SourceError[] {
  if (isCalled(offer)) return []
  const hint = hintFor(offer.exports)
  if (hint === null && (hasPages || offer.capabilities.methods.length > 0)) return []
  const shown = offer.exports.slice(0, MAX_SHOWN).join(', ')
  const found = shown === '' ? `${file} exports nothing` : `${file} exports only ${shown}`
  const message = `${found}: none of the functions that are called (${CALLED.join(', ')}).`
  return [errorIn(file, hint === null ? message : `${message} ${hint}`)]
}

function isCalled({ capabilities: { methods, jobs, scheduled_tasks } }: Offer): boolean {
  return (
    methods.some((name) => !BESIDE.includes(name)) ||
    jobs.length > 0 ||
    scheduled_tasks.some((name) => CALLED.includes(name))
  )
}

function hintFor(exported: readonly string[]): string | null {
  const unusable = exported.find((name) => CALLED.includes(name))
  if (unusable === 'jobs') return '`jobs` must be an object of functions.'
  if (unusable !== undefined) return `\`${unusable}\` must be a function.`
  const [slip] = exported
    .filter((name) => !BESIDE.includes(name))
    .flatMap((name) => CALLED.map((meant) => ({ name, meant, letters: lettersApart(name, meant) })))
    .filter(({ meant, letters }) => letters <= Math.min(MAX_LETTERS, meant.length / 3))
    .toSorted((a, b) => a.letters - b.letters)
  return slip ? `Did you mean ${slip.meant} for ${slip.name}?` : null
}

/** Long names are not looked at: they are no slip. */
function lettersApart(name: string, meant: string): number {
  return name.length > 2 * meant.length ? Infinity : editDistance(name.toLowerCase(), meant.toLowerCase())
}
