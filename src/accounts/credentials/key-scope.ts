// Restrictions of an API key (read-only, strict, origins, addresses) and the check of a request against them.
import ipaddr from 'ipaddr.js'
import { type AddressRange, addressRange, isInRange } from '#core/network/address-ranges.ts'
import { invalidFields, ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { isOrigin } from '#core/origins.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import type { Caller } from '../limits/failed-authentications.ts'

const MAX_ENTRIES = 50
const ORIGIN = reason('origin')
const RANGE = reason('address_range')

/** As sent by operators and as stored; an empty list restricts nothing. */
export interface KeyScope {
  read_only: boolean
  strict: boolean
  allowed_origins: string[]
  allowed_addresses: string[]
}

export const NO_SCOPE: KeyScope = { read_only: false, strict: false, allowed_origins: [], allowed_addresses: [] }

/** Fields of a body that creates or changes a key; fields that are not sent do not change. */
export const ScopeFields = {
  read_only: Type.Optional(
    Type.Boolean({ description: 'true makes the key read-only: operations that change something are rejected with `READ_ONLY_KEY`' }),
  ),
  strict: Type.Optional(
    Type.Boolean({ description: 'true refuses unknown query parameters (422) for every request with the key, as `Prefer: handling=strict` does' }),
  ),
  allowed_origins: Type.Optional(
    Type.Array(Type.String({ maxLength: 300, allowed: ORIGIN }), {
      maxItems: MAX_ENTRIES,
      description: 'Origins of web pages that may use the key; if set, requests without an `Origin` are rejected. Empty: no restriction',
      examples: [['https://shop.example']],
    }),
  ),
  allowed_addresses: Type.Optional(
    Type.Array(Type.String({ maxLength: 50, allowed: RANGE }), {
      maxItems: MAX_ENTRIES,
      description: 'Addresses and ranges (CIDR) from which the key may be used. Empty: no restriction',
      examples: [['203.0.113.7', '2001:db8::/32']],
    }),
  ),
}

/**
 * The restrictions in a body, without duplicates.
 * @throws VALIDATION_ERROR that names each invalid entry
 */
export function scopeOf({ read_only, strict, allowed_origins, allowed_addresses }: Partial<KeyScope>): Partial<KeyScope> {
  const problems: Problem[] = []
  const checked = (field: string, entries: string[], isValid: (entry: string) => boolean, rule: 'origin' | 'address_range') => {
    entries.forEach((entry, i) => {
      if (!isValid(entry)) problems.push(problem(`${field}.${i}`, rule))
    })
    return [...new Set(entries)]
  }
  const scope: Partial<KeyScope> = {
    ...(read_only !== undefined && { read_only }),
    ...(strict !== undefined && { strict }),
    ...(allowed_origins && { allowed_origins: checked('allowed_origins', allowed_origins, isOrigin, 'origin') }),
    ...(allowed_addresses && {
      allowed_addresses: checked('allowed_addresses', allowed_addresses, (entry) => addressRange(entry) !== null, 'address_range'),
    }),
  }
  if (problems.length > 0) throw invalidFields(problems)
  return scope
}

/** The origins and addresses that a key may be used from, parsed for comparison. */
export interface CallerLimits {
  /** null: from anywhere */
  origins: ReadonlySet<string> | null
  ranges: readonly AddressRange[] | null
}

/** Null for a key that may be used from anywhere. */
export function callerLimits({ allowed_origins: origins, allowed_addresses: addresses }: KeyScope): CallerLimits | null {
  if (origins.length === 0 && addresses.length === 0) return null
  return {
    origins: origins.length > 0 ? new Set(origins) : null,
    ranges: addresses.length > 0 ? addresses.map(addressRange).filter((range) => range !== null) : null,
  }
}

/** @throws ORIGIN_NOT_ALLOWED, ADDRESS_NOT_ALLOWED if the key may not be used from there */
export function mayCallFrom({ origins, ranges }: CallerLimits, { headers: { origin }, ip }: Caller): void {
  if (origins && (origin === undefined || !origins.has(origin))) {
    throw new ServiceError('ORIGIN_NOT_ALLOWED', reason('origin_not_allowed', origin === undefined ? {} : { value: origin }))
  }
  const address = ranges && ipaddr.isValid(ip) ? ipaddr.process(ip) : null
  if (ranges && !(address && ranges.some((range) => isInRange(address, range)))) {
    throw new ServiceError('ADDRESS_NOT_ALLOWED', reason('address_not_allowed', { value: ip }))
  }
}
