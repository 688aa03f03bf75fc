// What is wrong with an answer, in words that the admin of the domain can act on.
export type SamlCheck =
  | 'format'
  | 'status'
  | 'one_assertion'
  | 'signature'
  | 'certificate'
  | 'issuer'
  | 'audience'
  | 'recipient'
  | 'destination'
  | 'in_response_to'
  | 'times'
  | 'replay'
  | 'email'

export class AnswerFault extends Error {
  override readonly name = 'AnswerFault'
  constructor(
    readonly check: SamlCheck,
    message: string,
  ) {
    super(message)
  }
}
