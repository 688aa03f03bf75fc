// Kinesis of aws-sdk 2, for apps that import from a stream: its shards, a place in one, and the records from there on.
import { answeredLater } from './answered.ts'
import { sign, type AwsOptions } from './aws-signature.ts'
import { kit } from './kit.ts'

type Params = Record<string, unknown>
type Records = { Records: { Data: unknown }[] }

export class Kinesis {
  constructor(private readonly options: AwsOptions = {}) {}

  describeStream(params: Params, callback?: unknown) {
    return answeredLater(() => this.#call('DescribeStream', params), callback)
  }

  getShardIterator(params: Params, callback?: unknown) {
    return answeredLater(() => this.#call('GetShardIterator', params), callback)
  }

  getRecords(params: Params, callback?: unknown) {
    const read = async () => {
      const { Records, ...rest } = (await this.#call('GetRecords', params)) as Records
      return {
        ...rest,
        Records: Records.map((record) => ({
          ...record,
          Data: kit.Buffer.from(String(record.Data), 'base64'),
        })),
      }
    }
    return answeredLater(read, callback)
  }

  async #call(action: string, params: Params): Promise<unknown> {
    const host = `kinesis.${this.options.region ?? 'us-east-1'}.amazonaws.com`
    const body = kit.Buffer.from(JSON.stringify(params))
    const headers = sign(this.options, {
      service: 'kinesis',
      method: 'POST',
      host,
      path: '/',
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `Kinesis_20131202.${action}` },
      body,
    })
    const answer = await kit.fetch(`https://${host}/`, { method: 'POST', headers, body })
    if (!answer.ok) throw readError(answer.status, await answer.text())
    return answer.json()
  }
}

function readError(status: number, text: string): Error {
  const name = /"__type"\s*:\s*"(?:[^"#]*#)?(\w+)"/.exec(text)?.[1] ?? String(status)
  const message = /"[Mm]essage"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? `HTTP ${status}`
  return Object.assign(new Error(message), { name, code: name, statusCode: status })
}
