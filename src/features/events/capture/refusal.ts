// Why captured data is refused. Plain data, so that it passes between threads; serve.ts makes an answer of it.

export type Fault = {
  code: 'invalid_payload' | 'payload_too_large' | 'missing_api_key' | 'invalid_api_key'
  detail: string
  attr: string | null
}

export class Refusal extends Error {
  constructor(readonly fault: Fault) {
    super(fault.detail)
  }
}

export function invalidPayload(detail: string, attr: string | null = null): Refusal {
  return new Refusal({ code: 'invalid_payload', detail, attr })
}

export function tooLarge(detail: string, attr: string | null = null): Refusal {
  return new Refusal({ code: 'payload_too_large', detail, attr })
}
