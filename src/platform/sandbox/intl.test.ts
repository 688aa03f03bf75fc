// Dates and numbers as people write them. What V8 answers is what apps must get.
import { execFileSync } from 'node:child_process'
import { runInThisContext } from 'node:vm'
import { build } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'
import { faultOf, runCode, TestHost } from './fixture/apps.ts'
import { openSandbox } from './open.ts'
import { MAX_NEW_FORMATS_AT_FIRST } from './limits.ts'

const sandbox = openSandbox({ threads: 1, geoip_database: null })
afterAll(() => sandbox.close())

const run = (body: string, host?: TestHost) => runCode(sandbox, body, host)
// Evaluated here as well, where the locale and the zone are those of the machine: each case names its own.
const native = (code: string): unknown => runInThisContext(code)

const INSTANT = 'new Date(Date.UTC(2024, 2, 9, 22, 30, 5, 678))'

describe('Intl', () => {
  it.each([
    `${INSTANT}.toLocaleString('en-GB', { timeZone: 'Asia/Tokyo' })`,
    `${INSTANT}.toLocaleDateString('en-US', { timeZone: 'Asia/Tokyo' })`,
    `${INSTANT}.toLocaleTimeString('de-DE', { timeZone: 'America/New_York' })`,
    `${INSTANT}.toLocaleDateString('fr', { timeZone: 'UTC', weekday: 'long', month: 'long', day: 'numeric' })`,
    `${INSTANT}.toLocaleTimeString('en-US', { timeZone: 'UTC', hour12: false, hour: '2-digit', minute: '2-digit' })`,
    `${INSTANT}.toLocaleDateString('ja', { timeZone: 'UTC', hour: 'numeric' })`,
    `${INSTANT}.toLocaleTimeString('ja', { timeZone: 'UTC', year: 'numeric' })`,
    `${INSTANT}.toLocaleString('sv', { timeZone: 'UTC', dateStyle: 'full', timeStyle: 'short' })`,
    `${INSTANT}.toLocaleString(['xx-unknown', 'de'], { timeZone: 'Asia/Kolkata', era: 'short' })`,
    `new Date(NaN).toLocaleString('en')`,
    `[${INSTANT}, null, 1234.5].toLocaleString('de', { timeZone: 'Asia/Tokyo' })`,
    `new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Kyiv', timeStyle: 'long' }).format(${INSTANT})`,
    `Intl.DateTimeFormat('en', { timeZone: 'UTC' }).formatToParts(${INSTANT})`,
    `[0, 864e5].map(new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format)`,
    `Intl.DateTimeFormat('de', { timeZone: 'asia/tokyo', hour: 'numeric' }).resolvedOptions()`,
    `Intl.DateTimeFormat.supportedLocalesOf(['de', 'xx', 'en-GB'])`,
    `(1234567.891).toLocaleString('de-DE')`,
    `(0.256).toLocaleString('en', { style: 'percent', maximumFractionDigits: 1 })`,
    `new Intl.NumberFormat('ja-JP', { style: 'currency', currency: 'JPY' }).format(5000)`,
    `[1e21, -0, NaN, Infinity, '12.5', 5e-324].map(new Intl.NumberFormat('en').format)`,
    `(12345678901234567890123n).toLocaleString('en')`,
    `new Intl.NumberFormat('fr', { notation: 'compact' }).formatToParts(12345)`,
    `new Intl.NumberFormat('en', { minimumFractionDigits: 2 }).resolvedOptions()`,
    `['b', 'a', 'C', 'ä', 'A'].sort((a, b) => a.localeCompare(b, 'de'))`,
    `'10'.localeCompare('9', 'en', { numeric: true })`,
    `['istanbul'.toLocaleUpperCase('tr'), 'II'.toLocaleLowerCase(['tr']), 'I'.toLocaleLowerCase()]`,
  ])('%s is what it is elsewhere', async (code) => {
    expect(await run(`return ${code}`)).toEqual(JSON.parse(JSON.stringify(native(code))))
  })

  it('has one locale and one zone by default, wherever the server runs', async () => {
    const { locale, timeZone } = (await run('return Intl.DateTimeFormat().resolvedOptions()')) as Record<
      string,
      string
    >
    expect([locale, timeZone]).toEqual(['en-US', 'UTC'])
    expect(await run(`return ${INSTANT}.toLocaleString()`)).toMatch(/^3\/9\/2024, 10:30:05\sPM$/)
    expect(await run("return [(1234.5).toLocaleString(), 'a'.localeCompare('B')]")).toEqual(['1,234.5', -1])
  })

  it('does not depend on where the server runs', async () => {
    const entry = new URL('./quickjs/formats.ts', import.meta.url).pathname
    const options = { bundle: true, write: false, platform: 'node', format: 'cjs' } as const
    const { outputFiles } = await build({ entryPoints: [entry], ...options })
    const asked = `const { resolveFormat, upperCase } = new module.exports.Formats().operations()
      const { locale, timeZone } = resolveFormat('date', [], {})
      console.log(JSON.stringify([locale, timeZone, resolveFormat('number', ['xx'], {}).locale, upperCase([], 'i')]))`
    const script = `${outputFiles[0]!.text}\n${asked}`
    const env = { TZ: 'Asia/Tokyo', LC_ALL: 'tr_TR.UTF-8' }
    const printed = execFileSync(process.execPath, ['-'], { input: script, env, encoding: 'utf8' })
    expect(JSON.parse(printed)).toEqual(['en-US', 'UTC', 'en-US', 'I'])
  })

  it('can be asked for while code is only looked at', async () => {
    const code = "exports.jobs = { [new Date(0).toLocaleDateString('en', { timeZone: 'Asia/Tokyo' })]() {} }"
    expect((await sandbox.inspect(code)).capabilities.jobs).toEqual(['1/1/1970'])
  })

  it.each([
    ["new Date().toLocaleString('en', { timeZone: 'Mars/Olympus' })", /Mars\/Olympus/],
    ["new Intl.DateTimeFormat('en', { hour: 'sometimes' })", /sometimes/],
    ["new Intl.DateTimeFormat('not a locale')", /locale/i],
    ["new Intl.NumberFormat('en', { style: 'currency' })", /currency/i],
    ["new Intl.NumberFormat('en', { maximumFractionDigits: 1e9 })", /maximumFractionDigits/],
    ["new Date().toLocaleDateString('en', { timeStyle: 'short' })", /timeStyle/],
    ['new Intl.DateTimeFormat().format(NaN)', /Invalid time value/],
    ["new Intl.DateTimeFormat('en', { calendar: 'x'.repeat(1e5) })", /at most 100 characters/],
    ["new Intl.DateTimeFormat(Array(50).fill('en'))", /at most 10 locales/],
    ["new Intl.PluralRules('en')", /^Intl\.PluralRules is not available to apps\./],
    ["Intl.supportedValuesOf('timeZone')", /^Intl\.supportedValuesOf is not available to apps\./],
    ['new Intl.DateTimeFormat().formatRange(0, 1)', /formatRange is not available to apps\./],
  ])('%s throws instead of answering something else', async (code, message) => {
    expect((await faultOf(run(code))).message).toMatch(message)
  })

  it('makes only so many different formats, and keeps those that are used again', async () => {
    const host = new TestHost()
    const made = await run(
      `
      let made = 0
      try { while (made < 100_000) { new Intl.NumberFormat('en', { minimumIntegerDigits: 1 + made % 21, maximumFractionDigits: Math.floor(made / 21) % 20 }); made++ } }
      catch (error) { console.log(error.message) }
      return made`,
      host,
    )
    expect(host.lines[0]!.message).toMatch(/^too many different formats/)
    // Some more come with the time that it takes.
    expect(made).toBeGreaterThanOrEqual(MAX_NEW_FORMATS_AT_FIRST)
    expect(made).toBeLessThan(400)
    const again =
      "for (let n = 0; n < 2000; n++) new Date(n).toLocaleString('en', { timeZone: 'Asia/Tokyo' })"
    expect(await run(`${again}; return 'fine'`)).toBe('fine')
  })

  it('reads nothing but the options of the standard, whatever they are', async () => {
    const code = `
      const options = { __proto__: { timeZone: 'Asia/Tokyo' }, constructor: 1, get hour() { return 'numeric' }, x: {} }
      return ${INSTANT}.toLocaleString('en-GB', options)`
    expect(await run(code)).toBe('07')
  })
})
