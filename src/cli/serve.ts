// `longshore serve`: everything in one process, until it is told to stop.
import { serve as start } from '../app/serve.ts'
import type { Command } from './command.ts'
import { takeConfig } from './environment.ts'

export const serve: Command = {
  name: 'serve',
  description: 'start the server on the settings of the environment',
  async run() {
    const server = await start(takeConfig(), (text) => process.stdout.write(text))
    await new Promise<void>((stopped, failed) => {
      let isStopping = false
      const stop = () => {
        // A second signal changes nothing: the stop has its own time limits.
        if (isStopping) return
        isStopping = true
        server.stop().then(stopped, failed)
      }
      process.on('SIGTERM', stop)
      process.on('SIGINT', stop)
    })
    process.exit(0)
  },
}
