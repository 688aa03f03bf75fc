// The one way to the API: typed by the OpenAPI document, failures as `Failure`, questions to the person asked on the way.
import createClient from 'openapi-fetch'
import { noteConnection } from './connection'
import { failureOf, noAnswer } from './failure'
import { ask, mayAsk } from './prompts'
import type { components, paths } from './schema'

export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** For pages of people who are signed in. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: sendWithPrompts })

/** For pages that anybody may open: a missing session is an answer here. */
export const openApi = createClient<paths>({ baseUrl: location.origin, fetch: send })

type Call<Data> = Promise<{ data?: Data; error?: unknown; response: Response }>

/** The body of a good answer; anything else is thrown as a `Failure`. */
export async function answer<Data>(call: Call<Data>): Promise<Data> {
  const { data, error, response } = await call
  if (error === undefined && response.ok) return data as Data
  throw error instanceof Error ? error : await failureOf(copyOf(response, error))
}

/** openapi-fetch has read the body already. */
function copyOf(response: Response, body: unknown): Response {
  return new Response(JSON.stringify(body), { status: response.status, headers: response.headers })
}

async function send(request: Request): Promise<Response> {
  try {
    const response = await fetch(request)
    noteConnection(true)
    return response
  } catch (error) {
    if (request.signal.aborted) throw error
    noteConnection(false)
    throw noAnswer()
  }
}

async function sendWithPrompts(request: Request): Promise<Response> {
  const again = request.clone()
  const response = await send(request)
  const prompt = await promptOf(response)
  if (prompt === null || !(await ask(prompt))) return response
  return sendWithPrompts(again)
}

async function promptOf(response: Response) {
  if (!mayAsk() || (response.status !== 401 && response.status !== 403)) return null
  const { code } = await failureOf(response.clone())
  if (code === 'recent_sign_in_required') return 'confirm'
  if (response.status === 401 || code === 'two_factor_verification_required') return 'sign-in'
  return null
}
