// Properties get the same values in every run: FC_SEED=<number> asks for others.
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_261_123) })
