// An event on its way to processEvent: two lines of JSON, its fields and its properties. An app that does not look at the
// properties does not have them read.
import type { JsonObject } from '../../lib/json-object.ts'

export type SandboxEvent = JsonObject & { properties: JsonObject }

export function writeEventText({ properties, ...fields }: SandboxEvent): string {
  return `${JSON.stringify(fields)}\n${JSON.stringify(properties)}`
}

export function readEventText(text: string): SandboxEvent {
  const [fields, properties] = split(text)
  return { ...(JSON.parse(fields) as JsonObject), properties: JSON.parse(properties) as JsonObject }
}

/** Where there are objects within. */
export type Nested = 'nowhere' | 'fields' | 'properties' | 'both'

/** As the guest takes it: the engine would search longer for the end of a line than it reads one. */
export function guestTexts(text: string): [fields: string, properties: string, nested: Nested] {
  const [fields, properties] = split(text)
  const inProperties = holdsObjects(properties)
  const nested = holdsObjects(fields)
    ? inProperties
      ? 'both'
      : 'fields'
    : inProperties
      ? 'properties'
      : 'nowhere'
  return [fields, properties, nested]
}

function split(text: string): [fields: string, properties: string] {
  const end = text.indexOf('\n')
  return [text.slice(0, end), text.slice(end + 1)]
}

/** Beyond the one that it is. */
const holdsObjects = (json: string) => json.includes('{', 1) || json.includes('[', 1)
