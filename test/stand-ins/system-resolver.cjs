// In place of the machine's resolver, for a program under test: names are asked of the name server that the test runs
// (TEST_NAME_SERVER), one question for each kind of address, so that a name can change its mind. Where nobody may listen on
// port 443, another stands in for it (TEST_HTTPS_PORT). Preloaded by NODE_OPTIONS.
const dns = require('node:dns')
const { syncBuiltinESMExports } = require('node:module')
const { isIP, Socket } = require('node:net')
const { callbackify } = require('node:util')

const resolver = new dns.promises.Resolver({ tries: 1 })
resolver.setServers([process.env.TEST_NAME_SERVER])

async function addressesOf(name) {
  if (isIP(name) !== 0) return [{ address: name, family: isIP(name) }]
  const none = () => []
  const v4 = await resolver.resolve4(name).catch(none)
  const v6 = await resolver.resolve6(name).catch(none)
  return [...v4.map((address) => ({ address, family: 4 })), ...v6.map((address) => ({ address, family: 6 }))]
}

async function lookup(name, options) {
  const found = await addressesOf(name)
  if (found.length === 0)
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
  return options?.all ? found : found[0]
}

dns.promises.lookup = lookup
dns.lookup = (name, given, done) => {
  const options = typeof given === 'object' ? given : {}
  const callback = done ?? given
  callbackify(lookup)(name, options, (error, found) => {
    if (error) callback(error)
    else if (options.all) callback(null, found)
    else callback(null, found.address, found.family)
  })
}

const https = Number(process.env.TEST_HTTPS_PORT)
if (https) {
  const { connect } = Socket.prototype
  Socket.prototype.connect = function (...given) {
    const [options] = given.flat()
    if (Number(options?.port) === 443) options.port = https
    return connect.apply(this, given)
  }
}
syncBuiltinESMExports()
