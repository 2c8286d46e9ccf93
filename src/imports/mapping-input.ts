// Column mapping of an import: merges the request's parameters into a saved mapping, if it names one.
import { invalid, invalidFields } from '#core/errors.ts'
import { type Static, Type } from '#core/input.ts'
import { problem } from '#core/problems.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { type PriceMapping, readColumns, readMapping } from '#prices/records/mappings.ts'
import { savePriceMapping } from '#prices/imports/price-mappings.ts'
import { MAPPING_OPTIONS, mappingName, savedMapping } from '#prices/imports/saved-mappings.ts'
import type { ImportFormat } from './registry.ts'

const EXAMPLE = 'price=eur_price,set=set,number=number,name=name'
const { market: _market, ...OPTIONS } = MAPPING_OPTIONS
const pairs = (description: string, example: string) => Type.Optional(Type.String({ maxLength: 10_000, description, examples: [example] }))

/** Parameters of an import with a mapping, besides its market. */
export const MAPPING_INPUT = {
  map: pairs('Column for each field: see PriceMapping', EXAMPLE),
  only: pairs('Only import rows with these values', 'type=Card'),
  map_name: Type.Optional(Type.String({ maxLength: 200, description: 'Name of a saved mapping; the other parameters override it' })),
  save_map: Type.Optional(mappingName()),
  ...OPTIONS,
}
export type MappingInput = Static<Type.TObject<typeof MAPPING_INPUT>>

const PARAMETERS = Object.keys(MAPPING_INPUT) as (keyof MappingInput)[]

/**
 * The mapping for an import of the format; saves it if the caller requests that and it is not a dry run. Returns null for a format that needs no
 * mapping.
 * @throws VALIDATION_ERROR for an invalid or missing mapping, NOT_FOUND for an unknown name
 */
export async function mappingOf(
  ctx: WriteCtx,
  format: ImportFormat,
  input: MappingInput & { market?: PriceMapping['market']; dry_run?: boolean },
): Promise<PriceMapping | null> {
  const parameters = PARAMETERS.filter((name) => input[name] !== undefined)
  if (format.kind !== 'prices' || !format.mapped) {
    if (parameters.length === 0) return null
    throw invalidFields(parameters.map((field) => problem(field, 'only_mapped', { format: format.name })))
  }
  const { map, map_name: name, only, market, currency, decimal, encoding, years, condition_known: conditionKnown, entries } = input
  if (map === undefined && name === undefined) throw invalid('map', 'mapping', { example: EXAMPLE, field: 'map_name' })
  const saved = name === undefined ? null : (await savedMapping(ctx.db.kysely, name.trim())).mapping
  const mapping: PriceMapping = {
    ...saved,
    columns: { ...saved?.columns, ...(map !== undefined && readColumns(map, 'map')) },
    ...(only !== undefined && { only: readColumns(only, 'only') }),
    ...(market && { market }),
    ...(currency && { currency }),
    ...(decimal && { decimal }),
    ...(encoding && { encoding }),
    ...(years && { years }),
    ...(conditionKnown !== undefined && { condition_known: conditionKnown }),
    ...(entries !== undefined && { entries }),
  }
  readMapping(mapping, 'map')
  if (mapping.market === undefined) throw invalid('market', 'required')
  // Safe to repeat: a retried request saves the mapping again under the same name.
  if (input.save_map !== undefined && !input.dry_run)
    await call(savePriceMapping, { ...ctx, idempotency: null }, { name: input.save_map, ...mapping })
  return mapping
}
