// createBuffer; what is left goes out when the app is taken down.
const { createBuffer } = require('@posthog/plugin-contrib')

module.exports = {
  setupPlugin({ config, global }) {
    global.buffer = createBuffer({
      limit: 3,
      timeoutSeconds: 60,
      onFlush: async (events) => {
        await fetch(config.url, { method: 'POST', body: JSON.stringify(events.map(({ event }) => event)) })
      },
    })
  },
  onEvent(event, { global }) {
    global.buffer.add(event, 1)
  },
  async teardownPlugin({ global }) {
    await global.buffer.flush()
  },
}
