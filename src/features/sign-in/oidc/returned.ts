// The address that a provider sent the browser back to, as the library wants to see it.
import type { Kept } from '../provider/way.ts'

/** Only what the protocol knows: whatever else is in the address, somebody made up. */
const PARAMETERS = ['code', 'iss', 'error', 'error_description']

export function returned({ redirect_uri }: Kept, answer: Record<string, string>, names = PARAMETERS): URL {
  const url = new URL(redirect_uri!)
  for (const name of names) if (answer[name] !== undefined) url.searchParams.set(name, answer[name])
  return url
}
