// The part of samlp that tests use; it has no types of its own.
declare module 'samlp' {
  type Mapper = (user: unknown) => {
    getClaims(): Record<string, string | string[]>
    getNameIdentifier(): { nameIdentifier: string; nameIdentifierFormat: string }
  }
  type Options = {
    issuer: string
    cert: string
    key: string
    audience: string | string[]
    recipient: string
    destination: string
    inResponseTo?: string
    lifetimeInSeconds?: number
    signAssertion?: boolean
    signResponse?: boolean
    signatureAlgorithm?: 'rsa-sha256' | 'rsa-sha1'
    digestAlgorithm?: 'sha256' | 'sha1'
    encryptionCert?: string
    encryptionPublicKey?: string
    samlStatusCode?: string
    profileMapper: Mapper
  }
  const samlp: {
    getSamlResponse(options: Options, user: unknown, done: (error: Error | null, xml: string) => void): void
  }
  export default samlp
}
