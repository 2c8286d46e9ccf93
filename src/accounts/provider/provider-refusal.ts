// Why a sign-in with the identity provider failed; the console has a text for each.
/**
 * - `unavailable`: the provider does not respond
 * - `cancelled`: the provider did not sign the person in
 * - `expired`: not begun in this browser, more than ten minutes ago, or completed before
 * - `invalid`: the provider's response failed a check
 * - `no_role`: no value of the claim is mapped to a role
 * - `removed`: an owner has removed the person
 * - `last_owner`: the claim would leave the service without an owner
 * - `too_many`: too many failures from this address
 */
export type Refused = 'unavailable' | 'cancelled' | 'expired' | 'invalid' | 'no_role' | 'removed' | 'last_owner' | 'too_many'

export class ProviderRefusal extends Error {
  override name = 'ProviderRefusal'
  readonly why: Refused

  /** @param detail for the log */
  constructor(why: Refused, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.why = why
  }
}
