// The apps that come with the server, by address.
import { downsampling } from './downsampling.ts'
import type { InlineApp } from './inline-app.ts'
import { propertyFilter } from './property-filter.ts'
import { semverFlattener } from './semver-flattener.ts'
import { urlNormaliser } from './url-normaliser.ts'
import { userAgent } from './user-agent.ts'

export const INLINE_APPS: ReadonlyMap<string, InlineApp> = new Map(
  [downsampling, propertyFilter, semverFlattener, urlNormaliser, userAgent].map((app) => [app.url, app]),
)
