// Price jobs, as under /plus/price-jobs over REST.
import { invalid } from '#core/errors.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Reason, renameFields, textOf } from '#core/problems.ts'
import { call } from '#core/verb.ts'
import { applyPriceJob } from '#market/jobs/apply-price-job.ts'
import { getPriceJob } from '#market/jobs/get-price-job.ts'
import { listPriceJobs } from '#market/jobs/list-price-jobs.ts'
import { planPriceJob } from '#market/jobs/plan-price-job.ts'
import { type PriceJob, type PriceJobRow, PriceJobRowSchema, PriceJobSchema, type PriceJobSummary } from '#market/jobs/types.ts'
import { undoPriceJob } from '#market/jobs/undo-price-job.ts'
import { idOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, type Refs, requiresPlan } from '../building/builder.ts'
import { argumentsFrom, objectFrom } from '../building/from-schema.ts'
import { camelCase } from '../execution/errors.ts'
import { callByFields } from './mutating.ts'
import { nullIfMissing } from './query.ts'

const ROWS_FIRST = { default: 100, max: 500 }
const JOBS_READ = { ...fromDatabase, ...requiresPlan(OPERATION_PLAN.listPriceJobs) }

type Job = PriceJobSummary & Partial<Pick<PriceJob, 'rows'>>
interface RowPage {
  rows: PriceJobRow[]
  hasNextPage: boolean
}
type Refusal = NonNullable<PriceJobRow['refused']>[number]

export function implementPriceJobs(builder: Builder, refs: Refs): void {
  const job = addTypes(builder, refs)
  builder.queryFields((t) => ({
    priceJobs: t.field({
      type: [job],
      nullable: { list: false, items: false },
      description: 'Your price jobs, newest first; kept for 90 days. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10, entries: 20 }), ...JOBS_READ },
      args: argumentsFrom(t.arg, listPriceJobs.input, { types: { rule_id: 'Int' } }),
      resolve: async (_root, args, ctx, info) => (await callByFields(listPriceJobs, ctx, info, withoutNulls(args))).rows,
    }),
    priceJob: t.field({
      type: job,
      description: 'One of your price jobs by id; null if it does not exist. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10 }), ...JOBS_READ },
      args: { id: t.arg.id({ required: true, description: 'Id of the job.' }) },
      resolve: (_root, { id }, ctx) => call(getPriceJob, ctx, { id: idOf(id) as number }).catch(nullIfMissing),
    }),
  }))
  const row = builder.inputType('PriceJobRowInput', {
    description: 'New price, stock or both for one of your listings, given by id or SKU.',
    fields: (t) => ({
      listingId: t.id({ description: 'Id of the listing, or its SKU.' }),
      sku: t.string({ description: 'Your stock-keeping unit.' }),
      price: t.float({ description: 'In TL; default: unchanged.' }),
      quantity: t.int({ description: 'Units in stock; default: unchanged.' }),
    }),
  })
  builder.mutationFields((t) => {
    const id = t.arg.id({ required: true, description: 'Id of one of your price jobs.' })
    const path = (args: { id: string | number }) => ({ id: ['id', idOf(args.id)] }) as const
    return {
      planPriceJob: t.field({
        type: job,
        description: 'Plans new prices and stock for many listings. Nothing changes until you apply the job, within 24 hours.',
        args: {
          rows: t.arg({ type: [row], required: true, description: '1 to 10,000 rows, within the request size limit.' }),
          policy: t.arg.string({
            description: '`all` (default): applied only if no row is refused; `good_rows`: refused rows are skipped.',
          }),
        },
        resolve: (_root, { rows, policy }, ctx, info) =>
          callByFields(planPriceJob, ctx, info, {
            ...withoutNulls({ policy }),
            rows: rows.map(({ listingId, ...others }) => rowOf(listingId, others)),
          }),
      }),
      applyPriceJob: t.field({
        type: job,
        description: 'Applies a planned job: checks every row again and commits all rows in one transaction.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(applyPriceJob, ctx, info, {}, path(args)),
      }),
      undoPriceJob: t.field({
        type: job,
        description: 'Undoes an applied job: listings unchanged since the job get their old price and stock back.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(undoPriceJob, ctx, info, {}, path(args)),
      }),
    }
  })
}

function rowOf(listingId: string | number | null | undefined, others: object): object {
  return withoutNulls({ listing_id: listingId === null || listingId === undefined ? listingId : idOf(listingId), ...others })
}

function addTypes(builder: Builder, refs: Refs) {
  const refusal = builder.objectRef<Refusal>('PriceJobRefusal').implement({
    description: 'Why a row of a price job is refused.',
    fields: (t) => ({
      field: t.string({ nullable: false, description: 'The field that is wrong.', resolve: ({ field }) => camelCase(field) }),
      message: t.string({ nullable: false, description: 'Human-readable message: what is allowed.', resolve: (why) => message(why) }),
      rule: t.exposeString('rule', { description: 'Machine-readable name of the rule.' }),
    }),
  })
  const warning = builder.objectRef<PriceJobRow['warnings'][number]>('PriceJobWarning').implement({
    description: 'What to check in a row of a price job before applying it.',
    fields: (t) => ({
      message: t.string({ nullable: false, description: 'Human-readable message.', resolve: (why) => message(why) }),
      rule: t.exposeString('rule', { nullable: true, description: 'Machine-readable name of the rule.' }),
    }),
  })
  const row = objectFrom(builder, PriceJobRowSchema, {
    description: 'A row of a price job.',
    omit: ['reason', 'why'],
    types: { refused: refusal, warnings: warning },
    entries: { refused: 1, warnings: 1 },
  })
  builder.objectField(row, 'why', (t) =>
    t.string({ description: 'Human-readable reason it was kept or failed.', resolve: ({ why }) => why && message(why) }),
  )
  const page = builder.objectRef<RowPage>('PriceJobRowConnection').implement({
    description: 'Rows of a price job, by position.',
    fields: (t) => ({
      nodes: t.field({ type: [row], nullable: { list: false, items: false }, description: 'The rows.', resolve: ({ rows }) => rows }),
      pageInfo: t.field({
        type: refs.pageInfo,
        nullable: false,
        description: 'Position of the page.',
        resolve: ({ rows, hasNextPage }) => ({ hasNextPage, endCursor: () => rows.at(-1)?.row.toString() ?? null }),
      }),
    }),
  })
  const job = objectFrom(builder, PriceJobSchema, {
    description: 'New prices and stock for many of your listings, planned, applied and undone as one. Times are local, with offset.',
    omit: ['rows'],
  })
  builder.objectField(job, 'rows', (t) =>
    t.field({
      type: page,
      nullable: false,
      description: 'Rows with their planned or actual effect.',
      extensions: cost({ weight: 10, first: ROWS_FIRST }),
      args: {
        first: t.arg.int({ defaultValue: ROWS_FIRST.default, description: `Rows per page, 1 to ${ROWS_FIRST.max}.` }),
        after: t.arg.string({ description: 'The `endCursor` of the previous page.' }),
      },
      resolve: async ({ id, rows }: Job, { first, after }, ctx) => rowPage(rows ?? (await call(getPriceJob, ctx, { id })).rows, first, after),
    }),
  )
  return job as unknown as ReturnType<typeof builder.objectRef<Job>>
}

/** @throws VALIDATION_ERROR */
function rowPage(rows: PriceJobRow[], first: number | null | undefined, after: string | null | undefined): RowPage {
  const limit = first ?? ROWS_FIRST.default
  if (limit < 1 || limit > ROWS_FIRST.max) throw invalid('first', 'integer', { min: 1, max: ROWS_FIRST.max })
  const from = after === null || after === undefined ? 0 : Number(/^\d{1,5}$/.exec(after)?.[0] ?? Number.NaN)
  if (Number.isNaN(from)) throw invalid('after', 'cursor')
  return { rows: rows.slice(from, from + limit), hasNextPage: from + limit < rows.length }
}

/** The message with field names as in GraphQL. */
function message({ rule, params }: { rule?: string; params?: object }): string {
  return textOf(renameFields({ rule, params } as Reason, { nameOf: camelCase }))
}
