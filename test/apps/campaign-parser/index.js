// module.exports of arrow functions; URL, URLSearchParams and the module `url`.
const { URL: Address } = require('url')

module.exports = {
  processEvent: (event) => {
    const { $current_url: text } = event.properties
    if (!text) return event
    const address = new Address(text)
    const campaign = Object.fromEntries(
      [...new URLSearchParams(address.search)].filter(([name]) => name.startsWith('utm_')),
    )
    event.$set = { ...event.$set, ...campaign }
    event.properties.page = address.pathname
    return event
  },
}
