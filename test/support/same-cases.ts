// The same cases of property tests in every run, so that failures are reproducible.
import fc from 'fast-check'

fc.configureGlobal({ seed: 20_261_123 })
