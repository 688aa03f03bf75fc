// Takes properties off events before they are stored.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { InlineApp } from './inline-app.ts'
import { everyPropertySet } from './person-properties.ts'
import { readNames } from './settings.ts'

export const propertyFilter: InlineApp = {
  url: 'inline:property-filter',
  name: 'Property filter',
  description: 'Removes the properties you list from events and from what events set on persons.',
  removes: true,
  config_schema: [
    {
      key: 'properties',
      name: 'Properties to remove',
      type: 'string',
      default: '',
      required: true,
      hint: 'Separated by commas. A dot leads into an object: `address.street`.',
    },
  ],
  open(config) {
    const names = readNames(config, 'properties')
    return (event) => {
      for (const properties of everyPropertySet(event)) {
        for (const name of names) remove(properties, name)
      }
      return event
    }
  },
}

/** A property of exactly that name goes first: names may have dots themselves. */
function remove(properties: JsonObject, name: string): void {
  if (Object.hasOwn(properties, name)) {
    delete properties[name]
    return
  }
  const dot = name.indexOf('.')
  if (dot === -1) return
  const first = name.slice(0, dot)
  const inner = Object.hasOwn(properties, first) ? properties[first] : undefined
  if (isObject(inner)) remove(inner, name.slice(dot + 1))
}
