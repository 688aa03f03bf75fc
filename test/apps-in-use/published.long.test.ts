// Apps as PostHog published them, unchanged: packed as npm hands them out, installed by their address there.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startCodeHost, type CodeHost } from '../stand-ins/code-host.ts'
import { Workbench } from './workbench.ts'

const folderOf = (name: string) =>
  dirname(fileURLToPath(import.meta.resolve(`@posthog/${name}/package.json`)))
// Comes with the app, for its own tests.
const GEOIP_DATABASE = join(folderOf('geoip-plugin'), 'GeoLite2-City-Test.mmdb')

let bench: Workbench
let host: CodeHost
beforeEach(async () => {
  bench = await Workbench.open({ GEOIP_DATABASE })
  host = await startCodeHost()
  bench.app.services.outbound = host.outbound
})
afterEach(async () => {
  await bench.close()
  await host.close()
})

function publish(name: string): { url: string; version: string } {
  const folder = folderOf(name)
  const names = readdirSync(folder).filter((file) => /\.(json|[jt]s|md)$/.test(file))
  const files = Object.fromEntries(names.map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
  const { version } = JSON.parse(files['package.json']!) as { version: string }
  host.npm.set(`@posthog/${name}`, { versions: { [version]: files } })
  return { url: `https://www.npmjs.com/package/@posthog/${name}`, version }
}

it('@posthog/geoip-plugin finds places for events and persons, by the database given', async () => {
  const { url, version } = publish('geoip-plugin')
  const plugin = await bench.installFrom(url)
  expect(plugin).toMatchObject({ name: 'GeoIP', plugin_type: 'custom', tag: version, latest_tag: version })
  expect(plugin.capabilities.methods).toEqual(['processEvent'])
  const config = await bench.switchOn(plugin)
  await bench.capture('from London', { $ip: '81.2.69.142' })
  await bench.capture('from nowhere', { $ip: '203.0.113.1' })
  await bench.capture('from London again', { $ip: '81.2.69.142' })
  const [again] = await bench.stored('from London again')
  const [london] = await bench.stored('from London')
  expect(london!.properties).toMatchObject({
    $geoip_city_name: 'London',
    $geoip_country_code: 'GB',
    $geoip_continent_code: 'EU',
    $geoip_time_zone: 'Europe/London',
    $geoip_subdivision_1_code: 'ENG',
    $set: { $geoip_city_name: 'London', $geoip_postal_code: null },
    $set_once: { $initial_geoip_country_name: 'United Kingdom' },
    $plugins_succeeded: [`GeoIP (${config})`],
  })
  // The app remembers in its cache that this person is there already.
  expect(again!.properties).toMatchObject({ $geoip_city_name: 'London' })
  expect(again!.properties).not.toHaveProperty('$set')
  const [nowhere] = await bench.stored('from nowhere')
  expect(nowhere!.properties).not.toHaveProperty('$geoip_city_name')
  const persons = await bench.app.get(`${bench.projectUrl}/persons/`, { key: bench.key })
  expect(persons.body.results[0].properties).toMatchObject({ $geoip_city_name: 'London' })
})

it.each([
  ['camelCase', 'signed_up_now', 'signedUpNow'],
  ['snake_case', 'signedUpNow', 'signed_up_now'],
  ['kebab-case', 'signed_up', 'signed-up'],
  ['PascalCase', 'signed_up', 'SignedUp'],
  ['spaces in between', 'signed-up', 'signed up'],
])('@posthog/taxonomy-plugin writes names in %s', async (defaultNamingConvention, given, expected) => {
  const plugin = await bench.installFrom(publish('taxonomy-plugin').url)
  await bench.switchOn(plugin, { defaultNamingConvention })
  await bench.capture(given)
  expect((await bench.stored()).map(({ event }) => event)).toEqual([expected])
})

it('a setting outside the choices of the app is refused', async () => {
  const plugin = await bench.installFrom(publish('taxonomy-plugin').url)
  const body = { plugin: plugin.id, enabled: true, config: { defaultNamingConvention: 'shouting' } }
  const reply = await bench.app.post(`${bench.projectUrl}/plugin_configs/`, body, { key: bench.key })
  expect(reply).toMatchObject({
    status: 400,
    body: { code: 'invalid_choice', attr: 'config__defaultNamingConvention' },
  })
})
