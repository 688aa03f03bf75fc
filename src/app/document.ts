// The OpenAPI document of the whole server.
import { captureDocument } from '../features/events/capture/document.ts'
import { scimDocument } from '../features/scim/document.ts'
import { openApiDocument } from '../platform/http/openapi.ts'
import { routes } from './http.ts'
import { INTRODUCTION, SECTIONS } from './introduction.ts'
import { mcpDocument } from './mcp/document.ts'
import { VERSION } from './version.ts'

const ABOUT = { version: VERSION, introduction: INTRODUCTION, sections: SECTIONS }

let made: Record<string, unknown> | undefined

/** Made once: it takes as long as everything else that a server starts with. Not to be changed. */
export function apiDocument(): Readonly<Record<string, unknown>> {
  return (made ??= openApiDocument(routes, ABOUT, { ...captureDocument, ...mcpDocument, ...scimDocument }))
}

let text: string | undefined

export function apiDocumentText(): string {
  return (text ??= JSON.stringify(apiDocument()))
}
