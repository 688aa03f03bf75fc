// `longshore serve`: everything in one process, or some of it, until it is told to stop.
import { ROLES } from '../app/roles.ts'
import { serve as start } from '../app/serve.ts'
import { StartStopped } from '../app/startup.ts'
import type { Command } from './command.ts'
import { takeConfig } from './environment.ts'

export const serve: Command = {
  name: 'serve',
  description: 'start the server',
  options(command) {
    command
      .option(
        '--only <roles>',
        `do only this: a list of ${ROLES.join(', ')}, in place of ROLES; other processes do the rest`,
      )
      .option('--port <port>', 'port to listen on, in place of PORT')
      .option('--host <address>', 'address to listen on, in place of HOST')
      .option('--data-dir <folder>', 'folder for everything that is kept, in place of DATA_DIR')
  },
  async run({ only, port, host, dataDir }) {
    const asked = stopAsked()
    const given = Object.entries({ ROLES: only, PORT: port, HOST: host, DATA_DIR: dataDir }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    try {
      const config = takeConfig(Object.fromEntries(given))
      const server = await start(config, (text) => process.stdout.write(text), { signal: asked })
      if (!asked.aborted) await new Promise((stop) => asked.addEventListener('abort', stop, { once: true }))
      await server.stop()
    } catch (error) {
      if (!(error instanceof StartStopped)) throw error
    }
    process.exit()
  },
}

/**
 * In place of the handlers of bin/start.cjs, which just end the process: from here on there may be something to close. A
 * second signal changes nothing, because the stop has its own time limits.
 */
function stopAsked(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.removeAllListeners(signal).on(signal, () => stopping.abort())
  }
  return stopping.signal
}
