// From the text with which a browser introduces itself to the properties that web pages send by themselves. Knows what
// most people use and says nothing about the rest.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { InlineApp } from './inline-app.ts'
import { isYes, YES_NO } from './settings.ts'

const SOURCES = ['$useragent', '$user_agent', '$raw_user_agent']

/** Real ones have a few hundred characters. */
const MAX_READ = 1000

const ROBOT = /bot\b|bot\/|crawl|spider|headless|slurp|facebookexternalhit/i

// The first that fits: nearly everybody also claims to be Chrome and Safari.
const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Microsoft Edge', /\bEdg(?:e|A|iOS)?\/(\d+(?:\.\d+)?)/],
  ['Opera', /\bOPR\/(\d+(?:\.\d+)?)/],
  ['Opera Mini', /\bOpera Mini\/(\d+(?:\.\d+)?)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+(?:\.\d+)?)/],
  ['Firefox iOS', /\bFxiOS\/(\d+(?:\.\d+)?)/],
  ['Chrome iOS', /\bCriOS\/(\d+(?:\.\d+)?)/],
  ['Firefox', /\bFirefox\/(\d+(?:\.\d+)?)/],
  ['Chrome', /\bChrom(?:e|ium)\/(\d+(?:\.\d+)?)/],
  ['Internet Explorer', /\bMSIE (\d+(?:\.\d+)?)/],
  ['Internet Explorer', /\bTrident\/.*\brv:(\d+(?:\.\d+)?)/],
  ['Mobile Safari', /\bVersion\/(\d+(?:\.\d+)?)(?= .*Mobile\/.*Safari\/)/],
  ['Safari', /\bVersion\/(\d+(?:\.\d+)?)(?= .*Safari\/)/],
]

const SYSTEMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['iOS', /\b(?:iPhone|iPad|iPod)\b/],
  ['Windows', /\bWindows\b/],
  ['Android', /\bAndroid\b/],
  ['Chrome OS', /\bCrOS\b/],
  ['Mac OS X', /\bMac OS X\b|\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
]

export const userAgent: InlineApp = {
  url: 'inline:user-agent',
  name: 'User agent',
  description: 'Adds browser, its version, system and kind of device, read from the user agent of the event.',
  removes: false,
  config_schema: [
    {
      key: 'override',
      name: 'Replace what the event already says',
      type: 'choice',
      choices: YES_NO,
      default: 'No',
    },
  ],
  open(config) {
    const replaces = isYes(config.override)
    return (event) => {
      const text = SOURCES.map((name) => event.properties[name]).find((value) => typeof value === 'string')
      if (typeof text !== 'string') return event
      for (const [name, value] of Object.entries(describe(text.slice(0, MAX_READ)))) {
        if (replaces || (event.properties[name] ?? null) === null) event.properties[name] = value
      }
      return event
    }
  },
}

/** Robots take on the browser and device they want to be served for: nothing of that is true. */
function describe(text: string): JsonObject {
  if (ROBOT.test(text)) return {}
  const found: JsonObject = {}
  const browser = BROWSERS.find(([, pattern]) => pattern.test(text))
  if (browser) {
    found.$browser = browser[0]
    found.$browser_version = Number(browser[1].exec(text)?.[1])
  }
  const system = SYSTEMS.find(([, pattern]) => pattern.test(text))?.[0]
  if (system) {
    found.$os = system
    found.$device_type = deviceType(system, text)
  }
  return found
}

function deviceType(system: string, text: string): 'Desktop' | 'Mobile' | 'Tablet' {
  if (system === 'iOS') return text.includes('iPad') ? 'Tablet' : 'Mobile'
  if (system === 'Android') return /\bMobile\b/.test(text) ? 'Mobile' : 'Tablet'
  return /\bWindows Phone\b/.test(text) ? 'Mobile' : 'Desktop'
}
