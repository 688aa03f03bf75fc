import { CompletionContext } from '@codemirror/autocomplete'
import { javascript } from '@codemirror/lang-javascript'
import { EditorState } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { completeApp } from './completion.ts'

const known = { settings: ['rate', 'host'], properties: ['usd', '$browser', 'not a name'] }

/** The cursor stands at the bar. */
function labels(code: string): string[] {
  const pos = code.indexOf('|')
  const state = EditorState.create({
    doc: code.replace('|', ''),
    extensions: [javascript({ typescript: true })],
  })
  return (
    completeApp(() => known)(new CompletionContext(state, pos, true))?.options.map(({ label }) => label) ?? []
  )
}

describe('members', () => {
  it.each([
    [
      'export function processEvent(event, meta) { event.| }',
      ['uuid', 'event', 'distinct_id', 'properties', '$set_once'],
    ],
    ['export function onEvent(event) { event.| }', ['elements', 'timestamp']],
    ['export const processEvent = (event) => { event.| }', ['site_url']],
    ['const plugin = { processEvent(event) { event.| } }', ['site_url']],
    ['function helper(e: PluginEvent) { e.| }', ['site_url']],
    [
      'export function processEvent(event, meta) { meta.| }',
      ['config', 'storage', 'cache', 'logger', 'geoip'],
    ],
    ['export function processEvent(event, meta) { meta.storage.| }', ['get', 'set', 'del']],
    ['export function processEvent(event, { storage }) { storage.| }', ['get', 'set', 'del']],
    ['export function processEvent(event, { storage: kept }) { kept.| }', ['get', 'set', 'del']],
    ['export async function setupPlugin({ utils }) { await utils.cursor.| }', ['init', 'increment']],
    ['export function runEveryHour(meta: Meta) { meta.cache.| }', ['lpush', 'incr']],
    ['posthog.|', ['capture', 'api']],
    ['posthog.api.|', ['get', 'post', 'delete']],
  ])('%s', (code, expected) => expect(labels(code)).toEqual(expect.arrayContaining(expected)))

  it('settings come from the schema, properties from the event that is tried', () => {
    expect(labels('export function processEvent(event, { config }) { config.| }')).toEqual(['rate', 'host'])
    expect(labels('export function processEvent(event, meta) { meta.config.| }')).toEqual(['rate', 'host'])
    expect(labels('export function processEvent(event) { event.properties?.| }')).toEqual(['usd', '$browser'])
  })

  it('nothing is made up', () => {
    expect(labels('const x = {}; x.|')).toEqual([])
    expect(labels('export function processEvent(event) { event.nothing.| }')).toEqual([])
    expect(labels('export function exportEvents(events) { events.| }')).toEqual([])
  })
})

describe('names', () => {
  it('functions of an app are offered outside of functions', () => {
    expect(labels('|')).toEqual(
      expect.arrayContaining(['processEvent', 'onEvent', 'composeWebhook', 'runEveryMinute', 'posthog']),
    )
    expect(labels('export function processEvent(event, { config }) { | }')).toEqual(
      expect.arrayContaining(['event', 'config', 'RetryError']),
    )
    expect(labels('export function processEvent(event) { | }')).not.toContain('onEvent')
  })
})
