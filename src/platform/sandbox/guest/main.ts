// The part of the guest that is ours: it runs in every instance before the app does, gives it its world, and takes calls.
// Nothing here guards anything: an app can take it apart and harms itself only. The border is the host's.
import { fireAlarm } from './alarms.ts'
import { App, presentThrown } from './calls.ts'
import { findExports } from './exports.ts'
import { installGlobals } from './globals.ts'
import { connect, request, takeAnswer } from './host.ts'
import { GuestBuffer } from './buffer.ts'
import type { Kit } from './clients/kit.ts'
import { guestFetch } from './fetch.ts'
import { makeMeta, type Settings } from './meta.ts'
import { addModules, crypto, requireModule } from './modules.ts'

type Script = (
  exports: object,
  require: (name: string) => unknown,
  module: { exports: unknown },
) => Record<string, unknown>

export function start(host: (operation: string, args: string, last?: string) => string) {
  connect(host)
  installGlobals()
  let app: App | null = null

  return {
    /** Before `adopt`, for apps that name one of the clients. */
    addClients(make: (kit: Kit) => Record<string, object>): void {
      addModules(make({ Buffer: GuestBuffer, fetch: guestFetch, request, crypto }))
    },

    /** Runs the app's script and tells what it offers. */
    adopt(script: Script, text: string): string {
      try {
        const settings = JSON.parse(text) as Settings
        const exported = {}
        const module = { exports: exported as unknown }
        const bare = script(exported, requireModule, module)
        const found = findExports(exported, module.exports, bare)
        app = new App(found, makeMeta(settings, found))
        return JSON.stringify({
          methods: Object.keys(found.methods),
          tasks: Object.keys(found.tasks),
          jobs: Object.keys(found.jobs),
          metrics: found.metrics,
          exports: found.exports,
        })
      } catch (error) {
        return presentThrown(error)
      }
    },

    enter(operation: string, id: number, text: string, properties: string): string {
      if (operation === 'event') return app!.processEvent(id, text, properties, false)
      if (operation === 'nested-event') return app!.processEvent(id, text, properties, true)
      if (operation === 'call') return app!.call(id, text)
      if (operation === 'answer') takeAnswer(id, text)
      else fireAlarm(id)
      return ''
    },
  }
}
