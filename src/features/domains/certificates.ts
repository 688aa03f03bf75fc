// Certificates of identity providers, as they are stored: PEM blocks one after the other, or the base64 text of one.
import { X509Certificate } from 'node:crypto'

export const MAX_CERTIFICATES = 5

// Nothing round the blocks: pasted bundles may bring a private key along, and every member can read the field.
const BLOCKS = /^(?:\s*-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----)+\s*$/
const BLOCK = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/

/** Null when it is anything else, or there are too many. */
export function readCertificates(text: string): X509Certificate[] | null {
  const parts = BLOCKS.test(text) ? [...text.matchAll(BLOCK)].map(([, base64]) => base64!) : [text]
  if (parts.length > MAX_CERTIFICATES || parts.some((base64) => !BASE64.test(base64))) return null
  try {
    const certificates = parts.map((base64) => new X509Certificate(Buffer.from(base64, 'base64')))
    return certificates.every(({ publicKey }) => publicKey !== undefined) ? certificates : null
  } catch {
    return null
  }
}

/** As the domain shows them; null ones are none. */
export function describeCertificates(text: string | null): { subject: string; expires_at: string }[] {
  return (text ? (readCertificates(text) ?? []) : []).map((certificate) => ({
    subject: certificate.subject?.split('\n').join(', ') ?? '',
    expires_at: expiryOf(certificate).toISOString(),
  }))
}

export function expiryOf(certificate: X509Certificate): Date {
  return new Date(certificate.validTo)
}
