// The OpenAPI document of the whole server, as `npm run docs` writes it to docs/openapi.json. Making it takes as long as
// everything else that a server starts with, so servers hand out that file (api-schema.ts).
import { captureDocument } from '../features/events/capture/document.ts'
import { scimDocument } from '../features/scim/document.ts'
import { openApiDocument } from '../platform/http/openapi.ts'
import { routes } from './http.ts'
import { INTRODUCTION, SECTIONS } from './introduction.ts'
import { mcpDocument } from './mcp/document.ts'
import { VERSION } from './version.ts'

const ABOUT = { version: VERSION, introduction: INTRODUCTION, sections: SECTIONS }

let made: Record<string, unknown> | undefined

/** Made once. Not to be changed. */
export function apiDocument(): Readonly<Record<string, unknown>> {
  return (made ??= openApiDocument(routes, ABOUT, { ...captureDocument, ...mcpDocument, ...scimDocument }))
}
