// A self-signed X.509 certificate round a key of our own: nothing but a name and two dates, for those who pin it as a whole.
// Node reads certificates and makes none, and the packages that do are a hundred times as long.
import { createHash, sign, type KeyObject } from 'node:crypto'

const SEQUENCE = 0x30
const SET = 0x31
const INTEGER = 0x02
const BIT_STRING = 0x03
const NULL = 0x05
const OBJECT_ID = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const VERSION = 0xa0

const COMMON_NAME = '550403'
/** By the type of the key: the object id of the algorithm that signs, its parameters and its hash. */
const ALGORITHMS = {
  rsa: { id: '2a864886f70d01010b', parameters: der(NULL), hash: 'sha256' },
  ed25519: { id: '2b6570', parameters: Buffer.alloc(0), hash: null },
} as const

type Asked = { public_key: KeyObject; private_key: KeyObject; common_name: string; from: Date; until: Date }

/** In PEM. */
export function selfSignedCertificate({ public_key, private_key, common_name, from, until }: Asked): string {
  const { id, parameters, hash } = ALGORITHMS[private_key.asymmetricKeyType as keyof typeof ALGORITHMS]
  const algorithm = der(SEQUENCE, der(OBJECT_ID, Buffer.from(id, 'hex')), parameters)
  const name = der(
    SEQUENCE,
    der(
      SET,
      der(
        SEQUENCE,
        der(OBJECT_ID, Buffer.from(COMMON_NAME, 'hex')),
        der(UTF8_STRING, Buffer.from(common_name)),
      ),
    ),
  )
  const key = public_key.export({ type: 'spki', format: 'der' })
  const content = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, serialOf(key)),
    algorithm,
    name,
    der(SEQUENCE, time(from), time(until)),
    name,
    key,
  )
  const signature = der(BIT_STRING, Buffer.from([0]), sign(hash, content, private_key))
  return pem(der(SEQUENCE, content, algorithm, signature))
}

/** Positive, and another for each key. */
function serialOf(key: Buffer): Buffer {
  const serial = createHash('sha256').update(key).digest().subarray(0, 16)
  serial[0] = (serial[0]! & 0x3f) | 0x40
  return serial
}

/** Two digits of the year until 2049, four from then on. */
function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, '')
  return at.getUTCFullYear() < 2050
    ? der(UTC_TIME, Buffer.from(digits.slice(2)))
    : der(GENERALIZED_TIME, Buffer.from(digits))
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g)!
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  // From 128 bytes on, the length says first how many bytes it takes itself.
  const length =
    content.length < 128
      ? [content.length]
      : content.length < 256
        ? [0x81, content.length]
        : [0x82, content.length >> 8, content.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}
