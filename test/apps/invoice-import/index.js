// A scheduled import with a cursor in storage.
async function runEveryMinute({ config, storage, utils }) {
  const after = await storage.get('after', 0)
  const answer = await fetch(`${config.url}?after=${after}`)
  const { invoices } = await answer.json()
  for (const { id, customer, amount, paid_at } of invoices) {
    posthog.capture('invoice paid', { distinct_id: customer, timestamp: paid_at, amount, invoice: id })
    await storage.set('after', id)
    await utils.cursor.increment('imported', 1)
  }
  console.log('imported', invoices.length)
}

module.exports = { runEveryMinute }
