// An event on its way to processEvent: two lines of JSON, its fields and its properties. An app that does not look at the
// properties does not have them read.
import type { JsonObject } from '../../lib/json-object.ts'

export type SandboxEvent = JsonObject & { properties: JsonObject }

export function writeEventText({ properties, ...fields }: SandboxEvent): string {
  return `${JSON.stringify(fields)}\n${JSON.stringify(properties)}`
}

export function readEventText(text: string): SandboxEvent {
  const end = text.indexOf('\n')
  return {
    ...(JSON.parse(text.slice(0, end)) as JsonObject),
    properties: JSON.parse(text.slice(end + 1)) as JsonObject,
  }
}
