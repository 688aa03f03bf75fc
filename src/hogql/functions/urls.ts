// Parts of URLs, by pattern: the texts are whatever browsers sent, so nothing here may fail on them.
import { arrayOf, define, INTEGER, type Named, once, TEXT } from './define.ts'

const SCHEME = '[a-zA-Z][a-zA-Z0-9+.-]*'
/** Scheme, if there is one, slashes and what stands before an @. */
const BEFORE_HOST = `^(?:${SCHEME}:)?//(?:[^@/?#]*@)?`
/** Everything before the path, also of addresses without a scheme. */
const BEFORE_PATH = `^(?:(?:${SCHEME}:)?//[^/?#]*|[^/?#:]*)`

/** The host stands behind slashes; without them it must have a dot in it, or any word would be one. */
const domain = (url: string) =>
  `ltrim(regexp_extract(regexp_replace(${url}, '${BEFORE_HOST}', '//'),` +
  ` '^//[^/?#:\\s]+|^[^/?#:@\\s]*\\.[^/?#:@\\s]+'), '/')`

const parameters = (url: string) => `string_split(${queryString(url)}, '&')`
const queryString = (url: string) => `regexp_extract(${url}, '^[^?#]*\\?([^#]*)', 1)`
const withoutEmpty = (list: string) => `list_filter(${list}, lambda part: part <> '')`

const part = (name: string, pattern: string) =>
  define(name, ['text'], TEXT, (url) => `regexp_extract(${url}, '${pattern}', 1, 's')`)

const cut = (name: string, pattern: string, to = '') =>
  define(name, ['text'], TEXT, (url) => `regexp_replace(${url}, '${pattern}', '${to}', 's')`)

/** What does not decode to text is left as it is. */
const decoded = (url: string) => once([url], (it) => `coalesce(try(url_decode(${it})), ${it})`)

export const urlFunctions: readonly Named[] = [
  define('domain', ['text'], TEXT, domain),
  define('domainWithoutWWW', ['text'], TEXT, (url) => `regexp_replace(${domain(url)}, '^www\\.', '')`),
  define(
    'topLevelDomain',
    ['text'],
    TEXT,
    (url) => `regexp_extract(${domain(url)}, '\\.([^.0-9][^.]*)$', 1)`,
  ),
  part('protocol', `^(${SCHEME})://`),
  define(
    'port',
    ['text'],
    INTEGER,
    (url) => `coalesce(try_cast(regexp_extract(${url}, '${BEFORE_HOST}[^/?#:]+:(\\d+)', 1) as integer), 0)`,
  ),
  part('path', `${BEFORE_PATH}(/[^?#]*)`),
  part('pathFull', `${BEFORE_PATH}(/.*)`),
  define('queryString', ['text'], TEXT, queryString),
  part('fragment', '#(.*)$'),
  part('queryStringAndFragment', '^[^?#]*\\??(.*)$'),
  define(
    'extractURLParameter',
    ['text', 'text'],
    TEXT,
    (url, name) => `regexp_extract(${url}, '[?&]' || regexp_escape(${name}) || '=([^&#]*)', 1)`,
  ),
  define('extractURLParameters', ['text'], arrayOf(TEXT), (url) => withoutEmpty(parameters(url))),
  define(
    'extractURLParameterNames',
    ['text'],
    arrayOf(TEXT),
    (url) => `list_transform(${withoutEmpty(parameters(url))}, lambda part: split_part(part, '=', 1))`,
  ),
  cut('cutQueryString', '\\?[^#]*'),
  cut('cutFragment', '#.*'),
  cut('cutQueryStringAndFragment', '[?#].*'),
  cut('cutWWW', `^((?:${SCHEME}:)?//)www\\.`, '\\1'),
  define('encodeURLComponent', ['text'], TEXT, (text) => `url_encode(${text})`),
  define('decodeURLComponent', ['text'], TEXT, decoded),
  define('encodeURLFormComponent', ['text'], TEXT, (text) => `replace(url_encode(${text}), '%20', '+')`),
  define('decodeURLFormComponent', ['text'], TEXT, (text) => decoded(`replace(${text}, '+', ' ')`)),
]
