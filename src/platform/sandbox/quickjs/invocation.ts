// What the guest is asked to call.
import type { AppCall } from '../sandbox.ts'

export type Invocation = { method: string; name?: string; input?: unknown }

export function invocationOf(call: AppCall): Invocation {
  switch (call.method) {
    case 'job':
      return { method: 'job', name: call.name, input: call.payload }
    case 'task':
      return { method: 'task', name: call.name }
    case 'exportEvents':
      return { method: 'exportEvents', input: call.events }
    case 'onEvent':
    case 'composeWebhook':
      return { method: call.method, input: call.event }
  }
}
