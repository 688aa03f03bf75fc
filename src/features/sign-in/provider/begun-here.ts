// Whether a page of ours led to the start of a sign-in. Anybody can lead a browser there from elsewhere, with a provider behind it that
// says what they like: whoever is signed in must not be linked by following a link.
import { one } from '../../../platform/http/identify.ts'
import type { RequestFacts } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import type { Kept } from './way.ts'

const BEGUN_HERE: Kept = { begun_here: 'yes' }

/** To be kept with the attempt. Browsers tell by Sec-Fetch-Site; over plain HTTP they leave it out, and the Referer tells. */
export function begunAt({ settings }: Services, { headers }: RequestFacts): Kept {
  const site = one(headers['sec-fetch-site'])
  const referer = one(headers.referer)
  const isOurs =
    site === undefined ? originOf(referer) === new URL(settings.site_url).origin : site === 'same-origin'
  return isOurs ? BEGUN_HERE : {}
}

export function wasBegunHere(kept: Kept): boolean {
  return kept.begun_here === BEGUN_HERE.begun_here
}

function originOf(address: string | undefined): string | null {
  return address !== undefined && URL.canParse(address) ? new URL(address).origin : null
}
