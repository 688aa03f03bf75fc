// An event on its way to processEvent: two lines of JSON, its fields and its properties. An app that does not look at the
// properties does not have them read.
import type { JsonObject } from '../../lib/json-object.ts'

export type SandboxEvent = JsonObject & { properties: JsonObject }

export function writeEventText(fields: JsonObject, properties: JsonObject): string {
  return `${JSON.stringify(fields)}\n${JSON.stringify(properties)}`
}

export function readEventText(text: string): SandboxEvent {
  const [fields, properties] = split(text)
  return { ...(JSON.parse(fields) as JsonObject), properties: JSON.parse(properties) as JsonObject }
}

/** As the guest takes it: the engine would search longer in a text than it reads it. */
export function guestTexts(text: string): { texts: [fields: string, properties: string]; isNested: boolean } {
  const texts = split(text)
  return { texts, isNested: texts.some(holdsObjects) }
}

function split(text: string): [fields: string, properties: string] {
  const end = text.indexOf('\n')
  return [text.slice(0, end), text.slice(end + 1)]
}

/** Beyond the one that it is. */
const holdsObjects = (json: string) => json.includes('{', 1) || json.includes('[', 1)
