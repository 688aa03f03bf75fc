// An ES module.
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

export function processEvent(event) {
  const time = new Date(event.timestamp ?? event.now)
  Object.assign(event.properties, {
    day_of_the_week: DAYS[time.getUTCDay()],
    hour: String(time.getUTCHours()).padStart(2, '0'),
    year: String(time.getUTCFullYear()),
  })
  return event
}
