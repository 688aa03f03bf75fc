// One spelling for each address, so that pages are counted as one.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { InlineApp } from './inline-app.ts'
import { everyPropertySet } from './person-properties.ts'
import { isYes, readNames, YES_NO } from './settings.ts'

const UTM = /^utm_/i

const URL_PROPERTIES = [
  '$current_url',
  '$referrer',
  '$initial_current_url',
  '$initial_referrer',
  '$session_entry_url',
  '$session_entry_referrer',
]

/** Parameter names of longer addresses are read as they are written: decoding 250,000 takes a third of a second. */
const MAX_DECODED = 16 * 1024

/** `isDropped` is null where every parameter stays. */
type Spelling = { is_case_dropped: boolean; isDropped: ((parameter: string) => boolean) | null }

export const urlNormaliser: InlineApp = {
  url: 'inline:url-normaliser',
  name: 'URL normaliser',
  description:
    'Writes addresses in one way: host in lower case, no trailing slash, no default port and, if you like, without tracking parameters.',
  removes: false,
  config_schema: [
    {
      key: 'lowercase_all',
      name: 'Lower case for the whole address, not only the host',
      type: 'choice',
      choices: YES_NO,
      default: 'No',
    },
    {
      key: 'drop_utm',
      name: 'Remove utm_ parameters',
      type: 'choice',
      choices: YES_NO,
      default: 'No',
      hint: 'What they said stays in the properties that are named after them.',
    },
    {
      key: 'drop_parameters',
      name: 'Other parameters to remove',
      type: 'string',
      default: '',
      hint: 'Separated by commas.',
    },
  ],
  open(config) {
    const spelling = readSpelling(config)
    return (event) => {
      for (const properties of everyPropertySet(event)) {
        for (const name of URL_PROPERTIES) {
          const value = properties[name]
          if (typeof value === 'string') properties[name] = normalise(value, spelling)
        }
      }
      return event
    }
  },
}

function readSpelling(config: JsonObject): Spelling {
  const dropped = readNames(config, 'drop_parameters')
  const drops_utm = isYes(config.drop_utm)
  return {
    is_case_dropped: isYes(config.lowercase_all),
    isDropped:
      dropped.size > 0 || drops_utm ? (name) => dropped.has(name) || (drops_utm && UTM.test(name)) : null,
  }
}

/** What is not an address of the web, such as `$direct`, stays as it is. */
function normalise(text: string, spelling: Spelling): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return text
  url.search = keptParameters(url.search, spelling)
  // The URL parser has put host and scheme into lower case and has left out the default port.
  const beforePath = url.href.slice(0, url.href.indexOf('/', `${url.protocol}//`.length))
  const written = `${beforePath}${withoutTrailingSlashes(url.pathname)}${url.search}${url.hash}`
  return spelling.is_case_dropped ? written.toLowerCase() : written
}

/** Works on the text: taking it apart and putting it together again would change how the others are written. */
function keptParameters(search: string, { isDropped }: Spelling): string {
  const nameOf = search.length > MAX_DECODED ? writtenName : decodedName
  return search
    .slice(1)
    .split('&')
    .filter((parameter) => parameter !== '' && !isDropped?.(nameOf(parameter)))
    .join('&')
}

function writtenName(parameter: string): string {
  const end = parameter.indexOf('=')
  return end === -1 ? parameter : parameter.slice(0, end)
}

function decodedName(parameter: string): string {
  const [name = ''] = new URLSearchParams(parameter).keys()
  return name
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}
