// How many streams may be open, whoever asks, and what a stream sends that is open.
import { afterEach, describe, expect, it } from 'vitest'
import { ApiError } from '../errors.ts'
import { Inbox } from './inbox.ts'
import type { Connection, LiveAnswer } from './live-answer.ts'
import { message, messageText } from './message.ts'
import { OpenStreams } from './open-streams.ts'

let opened: OpenStreams
afterEach(() => opened.close())

const never = async function* () {
  await new Promise(() => undefined)
  yield* []
}
const asked = (caller: string, project_id: number, messages: LiveAnswer['messages'] = never) => ({
  caller,
  project_id,
  organization: `of ${project_id}`,
  route: '/x/',
  messages,
  check: () => Promise.resolve(),
  onFault: (error: unknown) => expect.unreachable(String(error)),
})
const refusal = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    if (error instanceof ApiError) return [error.status, error.code, error.headers['retry-after']]
  }
  return null
}

describe('the limits', () => {
  it('of a caller and a project are 429, that of the server 503; what was refused takes no room', () => {
    opened = new OpenStreams(() => new Date(), { server: 4, organization: 4, project: 3, caller: 2 })
    opened.open(asked('a', 1))
    const second = opened.open(asked('a', 1))
    expect(refusal(() => opened.open(asked('a', 2)))).toEqual([429, 'too_many_streams', '10'])
    opened.open(asked('b', 1))
    expect(refusal(() => opened.open(asked('c', 1)))).toEqual([429, 'too_many_streams', '10'])
    opened.open(asked('c', 2))
    expect(refusal(() => opened.open(asked('d', 3)))).toEqual([503, 'too_many_connections', '10'])
    expect(opened.count()).toEqual({ '/x/': 4 })
    second.destroy()
    return new Promise<void>((resolve) => second.once('close', resolve)).then(() => {
      expect(refusal(() => opened.open(asked('d', 3)))).toBeNull()
    })
  })

  it('of an organization is 429, over all of its projects and callers, and leaves room for others', () => {
    opened = new OpenStreams(() => new Date(), { server: 9, organization: 2, project: 2, caller: 2 })
    const of = (organization: string, caller: string, project_id: number) => ({
      ...asked(caller, project_id),
      organization,
    })
    opened.open(of('x', 'a', 1))
    opened.open(of('x', 'b', 2))
    expect(refusal(() => opened.open(of('x', 'c', 3)))).toEqual([429, 'too_many_streams', '10'])
    expect(refusal(() => opened.open(of('y', 'd', 4)))).toBeNull()
  })

  it('a server that stops ends all and opens none', async () => {
    opened = new OpenStreams(() => new Date())
    const text = opened.open(asked('a', 1)).resume()
    opened.close()
    await new Promise<void>((resolve) => text.once('close', resolve))
    expect(opened.count()).toEqual({})
    expect(refusal(() => opened.open(asked('a', 1)))).toEqual([503, 'too_many_connections', '10'])
  })
})

describe('the text', () => {
  it('ends with the messages; each line end in the data is a field of its own', async () => {
    opened = new OpenStreams(() => new Date())
    const text = opened.open(
      asked('a', 1, async function* () {
        yield { event: 'a', id: 7, data: '{"x":1,\r\n"y":\n2}' }
        yield message('b', 'line\nend')
      }),
    )
    let all = ''
    for await (const piece of text) all += String(piece)
    expect(all).toBe(
      'retry: 2000\n\nid: 7\nevent: a\ndata: {"x":1,\ndata: "y":\ndata: 2}\n\nevent: b\ndata: "line\\nend"\n\n',
    )
    expect(messageText(message('c', 1))).toBe('event: c\ndata: 1\n\n')
  })

  it('is made no faster than it is fetched', async () => {
    opened = new OpenStreams(() => new Date())
    let made = 0
    const text = opened.open(
      asked('a', 1, async function* () {
        for (;;) yield message('x', 'x'.repeat(10_000), ++made)
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(made).toBeLessThan(20)
    text.destroy()
  })
})

describe('what waits for a stream', () => {
  const connectionOf = () => {
    const ended = new AbortController()
    const connection: Connection = { signal: ended.signal, at: () => undefined, cut: () => ended.abort() }
    return { connection, ended }
  }

  it('is a megabyte at most: then it is cut, and takes nothing more', async () => {
    opened = new OpenStreams(() => new Date())
    const { connection, ended } = connectionOf()
    const inbox = new Inbox<{ bytes: number }>(connection)
    inbox.put({ bytes: 2_000_000 })
    expect(ended.signal.aborted).toBe(false)
    const batches = inbox.batches()
    expect((await batches.next()).value).toEqual({ bytes: 2_000_000 })
    inbox.put({ bytes: 500_000 })
    inbox.put({ bytes: 500_000 })
    expect(ended.signal.aborted).toBe(false)
    inbox.put({ bytes: 500_000 })
    expect(ended.signal.aborted).toBe(true)
    expect((await batches.next()).done).toBe(true)
  })

  it('comes before the fault that ends it', async () => {
    opened = new OpenStreams(() => new Date())
    const inbox = new Inbox<{ bytes: number }>(connectionOf().connection)
    inbox.put({ bytes: 1 })
    inbox.fail(new Error('gone'))
    const batches = inbox.batches()
    expect((await batches.next()).value).toEqual({ bytes: 1 })
    await expect(batches.next()).rejects.toThrow('gone')
  })
})
