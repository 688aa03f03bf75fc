// `longshore serve`: everything in one process, until it is told to stop.
import { serve as start } from '../app/serve.ts'
import type { Command } from './command.ts'
import { takeConfig } from './environment.ts'

export const serve: Command = {
  name: 'serve',
  description: 'start the server on the settings of the environment',
  async run() {
    const config = takeConfig()
    // Listened for from the beginning: a stop asked for during the start follows it, and leaves no PostgreSQL behind.
    // A second signal changes nothing: the stop has its own time limits.
    const asked = new Promise<void>((stop) => {
      process.on('SIGTERM', () => stop())
      process.on('SIGINT', () => stop())
    })
    const server = await start(config, (text) => process.stdout.write(text))
    await asked
    await server.stop()
    process.exit(0)
  },
}
