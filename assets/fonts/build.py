"""Cuts the two font subsets of this folder and prints the advance-width table of src/chart/widths.rs.

Usage: python build.py NotoSans[wdth,wght].ttf NotoSansMath-Regular.ttf > ../../src/chart/widths.rs
Needs: fonttools 4.68.0. Sources and versions: README.md.
"""

import sys

from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

TEXT = [*range(0x20, 0x7F), *range(0xA0, 0x100), 0x394, 0x3A3, *range(0x3B1, 0x3B6), 0x3BB, 0x3BC, 0x3C0, 0x3C3,
        0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2026, 0x2070, *range(0x2074, 0x207A), 0x207B,
        *range(0x2080, 0x208A), 0x2212]
MATH = [0x2192, 0x221E, 0x2248, 0x2260, 0x2264, 0x2265]


def cut(source, math, weight, name):
    font = instantiateVariableFont(TTFont(source), {"wght": weight, "wdth": 100}, updateFontNames=True)
    signs = TTFont(math)
    outlines, names = signs.getGlyphSet(), signs.getBestCmap()
    order = font.getGlyphOrder()
    for code in MATH:
        glyph = f"uni{code:04X}"
        if glyph not in order:
            order.append(glyph)
        pen = TTGlyphPen(outlines)
        outlines[names[code]].draw(pen)
        font["glyf"][glyph] = pen.glyph()
        font["hmtx"][glyph] = signs["hmtx"][names[code]]
        for table in font["cmap"].tables:
            if table.isUnicode():
                table.cmap[code] = glyph
    font.setGlyphOrder(order)
    options = Options(hinting=False, layout_features=["kern", "mark", "ccmp"], name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14])
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=TEXT + MATH)
    subsetter.subset(font)
    font["head"].modified = font["head"].created
    font.recalcTimestamp = False
    font.save(f"NotoSans-{name}-subset.ttf")
    return font


def widths(regular, bold):
    print("//! Advance widths of the embedded fonts in thousandths of the font size; written by `assets/fonts/build.py`.\n")
    print("/// (character, width in Regular, width in Bold), by character.")
    print("#[rustfmt::skip]")
    print(f"pub(super) const WIDTHS: [(char, u16, u16); {len(regular.getBestCmap())}] = [")
    row = []
    for code in sorted(regular.getBestCmap()):
        pair = (f["hmtx"][f.getBestCmap()[code]][0] * 1000 // f["head"].unitsPerEm for f in (regular, bold))
        row.append("('\\u{%x}', %d, %d)," % (code, *pair))
        if len(row) == 5:
            print("    " + " ".join(row))
            row = []
    if row:
        print("    " + " ".join(row))
    print("];")


widths(cut(sys.argv[1], sys.argv[2], 400, "Regular"), cut(sys.argv[1], sys.argv[2], 700, "Bold"))
