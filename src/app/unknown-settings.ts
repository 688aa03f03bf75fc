// Names that are not settings but look like one: a misspelt setting is ignored, and nobody notices.
import { editDistance } from '../lib/spelling.ts'
import { Environment } from './config.ts'

const SETTINGS = Object.keys(Environment.shape)
const PREFIX = /^(LONGSHORE|POSTHOG)_/
/** One letter makes another word of a short name: HOME is not meant to be HOST. */
const SHORT = 5

/** The setting that was meant; null when the name looks like none, or is one. */
export function meantSetting(name: string): string | null {
  if (SETTINGS.includes(name)) return null
  const asSetting = name.toUpperCase().replaceAll('-', '_').replace(PREFIX, '')
  return SETTINGS.find((setting) => isNear(asSetting, setting)) ?? null
}

function isNear(name: string, setting: string): boolean {
  if (Math.abs(name.length - setting.length) > 2) return false
  const distance = editDistance(name, setting)
  if (distance <= 1) return true
  return distance === 2 && setting.length > SHORT && name[0] === setting[0]
}
