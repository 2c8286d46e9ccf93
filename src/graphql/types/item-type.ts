// The type Item and its parts (interface.md, "Item (GraphQL)").

import type { LabelNode } from '#catalogue/index/label-tree.ts'
import { imagesOf, pricesOf } from '#catalogue/snapshot/item-json.ts'
import { type Builder, cost, type Refs } from '../building/builder.ts'
import { detailsOf, textsOf } from '../execution/item-source.ts'
import { addPriceChartType, CHART_READ, chartOf } from './price-chart.ts'
import { addPricePeriodType, HISTORY_READ, historyOf } from './price-history.ts'
import { addPriceType } from './price-type.ts'

export function implementItem(builder: Builder, refs: Refs): void {
  const image = addImageType(builder)
  const price = addPriceType(builder)
  const group = addGroupType(builder)
  const attribute = addAttributeType(builder)
  refs.item.implement({
    description: 'A trading card or a sealed product.',
    fields: (t) => ({
      id: t.id({ nullable: false, description: 'Unique id.', resolve: ({ row }, _args, { catalogue }) => catalogue.items.id[row]! }),
      name: t.string({
        nullable: false,
        description: 'Name, such as `Charizard`.',
        resolve: ({ row }, _args, { catalogue }) => catalogue.items.nameOf(row),
      }),
      code: t.string({
        description: 'Set number or code as printed, such as `4/102` or `OP01-001`; null if there is none.',
        resolve: ({ row }, _args, { catalogue }) => catalogue.items.codeOf(row),
      }),
      slug: t.string({ description: 'URL-friendly unique name.', resolve: (item, _args, ctx) => textsOf(item, ctx).slug }),
      genre: t.string({
        description: 'Kind of item: `single`, `card`, `sealed` or `bundle`.',
        resolve: ({ row }, _args, { catalogue }) => catalogue.items.genreOf(row),
      }),
      game: t.string({
        description: 'Game, such as `pokemon` or `onepiece`.',
        resolve: ({ row }, _args, { catalogue }) => catalogue.items.gameOf(row),
      }),
      category: t.field({
        type: refs.category,
        description: 'Category of the item.',
        resolve: ({ row }, _args, { catalogue }) => catalogue.categories.get(catalogue.items.categoryId[row]!),
      }),
      images: t.field({
        type: [image],
        description: 'Images in display order.',
        extensions: cost({ entries: 2 }),
        resolve: (item, _args, ctx) => imagesOf(ctx.catalogue.items.id[item.row]!, textsOf(item, ctx).images, ctx.catalogue.addresses),
      }),
      prices: t.field({
        type: [price],
        description: 'Current prices of all markets: by market, then by condition and grade.',
        extensions: cost({ entries: 8 }),
        resolve: ({ row }, _args, { catalogue }) => pricesOf(catalogue.items, catalogue.labels, row, null),
      }),
      groups: t.field({
        type: [group],
        description: 'Groups of conditions and grades the item can have.',
        extensions: cost({ entries: 2 }),
        resolve: ({ row }, _args, { catalogue }) => catalogue.items.groupIds(row).flatMap((id) => catalogue.labels.get(id) ?? []),
      }),
      attributes: t.field({
        type: [attribute],
        description: 'Additional facts by name, such as `Rarity` or `Set Number`.',
        extensions: cost({ entries: 6 }),
        resolve: (item, _args, ctx) => JSON.parse(textsOf(item, ctx).attributes) as { name: string; value: string }[],
      }),
    }),
  })
  addDetails(builder, refs)
  addHistory(builder, refs)
}

function addHistory(builder: Builder, refs: Refs): void {
  const period = addPricePeriodType(builder)
  const chart = addPriceChartType(builder)
  builder.objectFields(refs.item, (t) => ({
    priceHistory: t.field({
      type: [period],
      description: 'Prices by period, oldest first. For a period that is not listed, the previous `close` applies.',
      extensions: HISTORY_READ,
      args: {
        market: t.arg.string({ description: 'Default: the market whose prices the item shows over REST.' }),
        label: t.arg.string({ description: 'Condition or grade; default: all.' }),
        from: t.arg.string({ description: 'Start of the range, inclusive; its period is always listed. Default: a year before `to`.' }),
        to: t.arg.string({ description: 'End of the range, exclusive; default: now.' }),
        interval: t.arg.string({ description: '`day` (default), `week` or `month`.' }),
      },
      resolve: historyOf,
    }),
    priceChart: t.field({
      type: chart,
      description: 'Prices of one label by source and day, with its sales, converted to one currency.',
      extensions: CHART_READ,
      args: {
        label: t.arg.string({ description: 'Condition or grade; default: Near Mint, or the first one with prices.' }),
        currency: t.arg.string({ description: 'Code of a currency; default: that of the market whose prices the item shows over REST.' }),
        range: t.arg.string({ description: '`1m`, `3m`, `1y` (default) or `all`.' }),
      },
      resolve: chartOf,
    }),
  }))
}

/** Facts that only cards of some games have. */
function addDetails(builder: Builder, refs: Refs): void {
  builder.objectFields(refs.item, (t) => ({
    rarity: t.string({ description: 'Rarity, such as `Rare Holo`.', resolve: (item, _args, ctx) => detailsOf(item, ctx).rarity }),
    illustrator: t.string({ description: 'Illustrator of the card.', resolve: (item, _args, ctx) => detailsOf(item, ctx).illustrator }),
    hp: t.int({ description: 'Hit points.', resolve: (item, _args, ctx) => detailsOf(item, ctx).hp }),
    types: t.stringList({
      description: 'Types or colours, such as `Fire`.',
      extensions: cost({ entries: 2 }),
      resolve: (item, _args, ctx) => detailsOf(item, ctx).types,
    }),
    dexIds: t.intList({
      description: 'National Pokédex numbers.',
      extensions: cost({ entries: 2 }),
      resolve: (item, _args, ctx) => detailsOf(item, ctx).dex_ids,
    }),
    stage: t.string({ description: 'Evolution stage, such as `Basic`.', resolve: (item, _args, ctx) => detailsOf(item, ctx).stage }),
    evolveFrom: t.string({ description: 'Name of the card it evolves from.', resolve: (item, _args, ctx) => detailsOf(item, ctx).evolve_from }),
    suffix: t.string({ description: 'Name suffix, such as `EX`.', resolve: (item, _args, ctx) => detailsOf(item, ctx).suffix }),
    level: t.int({ description: 'Level; null if the card has none.', resolve: (item, _args, ctx) => detailsOf(item, ctx).level }),
  }))
}

function addImageType(builder: Builder) {
  return builder.objectRef<{ url: string; order: number }>('ItemImage').implement({
    description: 'An image of an item.',
    fields: (t) => ({
      url: t.exposeString('url', { nullable: false, description: 'URL of the image.' }),
      order: t.exposeInt('order', { nullable: false, description: 'Position among the images of the item, from 1.' }),
    }),
  })
}

function addGroupType(builder: Builder) {
  return builder.objectRef<LabelNode>('ItemGroup').implement({
    description: 'A group of conditions or grades, such as Graded or Ungraded.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: 'Unique id.' }),
      name: t.exposeString('name', { nullable: false, description: 'Name, such as `Graded`.' }),
      slug: t.exposeString('slug', { nullable: false, description: 'URL-friendly name.' }),
    }),
  })
}

function addAttributeType(builder: Builder) {
  return builder.objectRef<{ name: string; value: string }>('ItemAttribute').implement({
    description: 'An additional fact about an item.',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false, description: 'Name of the fact, such as `Rarity`.' }),
      value: t.exposeString('value', { nullable: false, description: 'Its value, such as `Rare Holo`.' }),
    }),
  })
}
