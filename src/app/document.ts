// The OpenAPI document of the whole server.
import { captureDocument } from '../features/events/capture/document.ts'
import { openApiDocument } from '../platform/http/openapi.ts'
import { routes } from './http.ts'
import { VERSION } from './version.ts'

export function apiDocument(): Record<string, unknown> {
  return openApiDocument(routes, VERSION, captureDocument)
}
