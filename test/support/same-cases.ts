// The cases of property tests: the same in every run, so that one that fails fails for everybody.
import fc from 'fast-check'

fc.configureGlobal({ seed: 20_261_123 })
