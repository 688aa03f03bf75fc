// Bare functions, nothing exported.
function matches(event, config) {
  return String((event.properties || {})[config.property]) === config.value
}

function processEvent(event, { config }) {
  return matches(event, config) ? null : event
}
