// One run of an app on one event, and what came of it.
import { useState } from 'react'
import { answer, api, type Schema } from '../../api/client'
import { toFailure } from '../../api/failure'
import { useProject } from '../../api/me'
import type { App, Files } from '../queries'
import { useAppDenial } from '../rights'
import { keepTriedEvent, keptTriedEvent } from './tried-event'

export type Trial = ReturnType<typeof useTrial>
export type TrialResult = Schema<'PluginTestResult'> & { before: Record<string, unknown> }

const FIRST = JSON.stringify({ event: 'order paid', distinct_id: 'ada', properties: { usd: 10 } }, null, 2)
const CODE = ['index.ts', 'plugin.json']

/** `files` are those that are not saved yet, or null to try the app as it is. */
export function useTrial(app: App, files: Files | null) {
  const { organization } = useProject()
  const denial = useAppDenial('try')
  const [text, setText] = useState(() => keptTriedEvent(app.id) ?? FIRST)
  const [mayFetch, setMayFetch] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [result, setResult] = useState<TrialResult | null>(null)

  const write = (next: string) => {
    setText(next)
    keepTriedEvent(app.id, next)
  }
  /** What came of code or an event that is no longer there. */
  const clear = () => {
    setProblem(null)
    setResult(null)
  }
  async function run() {
    if (isBusy || denial !== null) return
    setProblem(null)
    const event = readEvent(text)
    if (event === null) {
      setResult(null)
      return setProblem('The event is not a JSON object.')
    }
    setBusy(true)
    try {
      const sent =
        files &&
        Object.fromEntries(CODE.flatMap((name) => (files[name] === undefined ? [] : [[name, files[name]]])))
      const params = { path: { organization_id: organization, id: String(app.plugin) } }
      const body = { event, plugin_config: app.id, fetch: mayFetch, ...(sent ? { files: sent } : {}) }
      const told = await answer(
        api.POST('/api/organizations/{organization_id}/plugins/{id}/test/', { params, body }),
      )
      setResult({ ...told, before: event })
    } catch (error) {
      setResult(null)
      setProblem(toFailure(error).message)
    } finally {
      setBusy(false)
    }
  }
  return { denial, text, write, mayFetch, setMayFetch, run, clear, isBusy, problem, result }
}

export function readEvent(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
