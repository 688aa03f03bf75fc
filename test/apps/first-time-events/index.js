// CommonJS, one function after the other; remembers in storage what it has seen.
async function setupPlugin({ config, global }) {
  global.watched = new Set(config.events.split(',').map((name) => name.trim()))
}

async function processEvent(event, { global, storage }) {
  if (!global.watched.has(event.event)) return event
  const key = `seen ${event.event}`
  const isKnown = await storage.get(key, false)
  if (!isKnown) await storage.set(key, true)
  event.properties.is_first_of_its_kind = !isKnown
  return event
}

exports.setupPlugin = setupPlugin
exports.processEvent = processEvent
