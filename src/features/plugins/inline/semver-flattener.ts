// Takes versions apart, so that they can be compared and grouped.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { InlineApp } from './inline-app.ts'
import { readNames } from './settings.ts'

// Nine digits fit every version there is, and every engine's integers.
const VERSION =
  /^v?(?<major>\d{1,9})(?:\.(?<minor>\d{1,9})(?:\.(?<patch>\d{1,9}))?)?(?:-(?<preRelease>[0-9A-Za-z.-]{1,200}))?(?:\+(?<build>[0-9A-Za-z.-]{1,200}))?$/

const NUMBERS = ['major', 'minor', 'patch'] as const
const TEXTS = ['preRelease', 'build'] as const

export const semverFlattener: InlineApp = {
  url: 'inline:semver-flattener',
  name: 'Semver flattener',
  description:
    'Adds the parts of version numbers as properties of their own: `$app_version__major`, `__minor`, `__patch`, `__preRelease` and `__build`.',
  removes: false,
  config_schema: [
    {
      key: 'properties',
      name: 'Properties that hold versions',
      type: 'string',
      default: '$app_version',
      required: true,
      hint: 'Separated by commas.',
    },
  ],
  open(config) {
    const names = readNames(config, 'properties')
    return (event) => {
      for (const name of names) flatten(event.properties, name)
      return event
    }
  },
}

function flatten(properties: JsonObject, name: string): void {
  const value = Object.hasOwn(properties, name) ? properties[name] : undefined
  const parts = typeof value === 'string' ? VERSION.exec(value.trim())?.groups : undefined
  if (!parts) return
  for (const part of NUMBERS) {
    if (parts[part] !== undefined) properties[`${name}__${part}`] = Number(parts[part])
  }
  for (const part of TEXTS) {
    if (parts[part] !== undefined) properties[`${name}__${part}`] = parts[part]
  }
}
