// Certificates of graded cards in inputs of mutations.
import { CertificateInput, SubgradesInput } from '#catalogue/certificates/certificate.ts'
import type { Builder } from './builder.ts'
import { inputFrom } from './from-schema.ts'

type Input = ReturnType<typeof inputFrom>

const inputs = new WeakMap<Builder, Input>()

/** The input type of listings and collection records. */
export function certificateInput(builder: Builder): Input {
  const existing = inputs.get(builder)
  if (existing) return existing
  const subgrades = inputFrom(builder, SubgradesInput, { name: 'SubgradesInput', description: 'Grades of the parts, if the grader states them.' })
  const input = inputFrom(builder, CertificateInput, {
    name: 'CertificateInput',
    description: 'Certificate of a graded card. A new listing may omit the grade if the service knows the certificate.',
    types: { subgrades },
  })
  inputs.set(builder, input)
  return input
}
