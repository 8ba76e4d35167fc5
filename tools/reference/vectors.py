"""Makes the small tokenizers of this folder and what the Rust library makes of text with them.

    python ../../tools/reference/vectors.py        (in testdata/tokenizers)

Needs the Python package tokenizers, whose version is written into the vectors.
Everything is seeded: the same version gives the same files.
"""
import base64, hashlib, json, random
import tokenizers
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
from tokenizers.pre_tokenizers import BertPreTokenizer

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN = LLAMA3.replace("{1,3}", "")
BAILING = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
CL100K = BAILING.replace(r"|\p{N}|", r"|\p{N}{1,3}|")

# What the vocabularies are trained on: words, runs, scripts that merges are wanted for.
CORPUS = [
    "a fox and a dog went to the river; the fox said: it's late, we'll go, don't wait, I'm off",
    "the dog's day was long and the night was longer, they've gone, you'd know, we're home",
    "aaaa aaaa aaa aa aaaaa aaaa ---- ----- ------ ——— —— ..... ... ==== == 10 100 1000 2024 2025",
    "\n\n \n\n\n   \n     four     five      six \t\t\t x\n\n  y\n\n",
    "Tiếng Việt rất đẹp, tiếng Việt rất hay; résumé café naïve; Grüße; 東京 東京 都; привет мир",
    "Day day DAY mask mask token token <s> </s> [x] (y) {z}",
] * 8

CASES = [
    "", " ", "  ", "     ", "\n", "\n\n", "a\n\nb", "B\u2003world\n\u00a0", "aaaaa", "aaaaaaaaaaaaa", "———", "-----",
    "Hello<|endoftext|>World", "<|endoftext|>", "[MASK]", "[MASK] a [CLS]", "[SEP][CLS]", "[CLS][SEP]", "résumé café",
    "\u00a0", "B\u2003", "䶮㐀豈", "ꎲ㔵", "\x1a\x8d\x00 \x1d", "\x80\ue000\x02x", "Ⱥ Ⱦ İ ß Σίσυφος", "'ſab", "'Sab 'LL 'Re 'vE x's x'D",
    "Tiếng Việt rất đẹp", "Tie\u0302\u0301ng Vie\u0323\u0302t ra\u0302\u0301t \u0111e\u0323p", "cafe\u0301 e\u0301!", "a\u0300\u0316 \u1100\u1161\u11a8 \uf900",
    "the fox said: it's late", "The FOX's day", "   leading", "trailing   ", "tabs\t\tand\tmore\t", "a  b   c    d", "x \n y\r\n z\r\r w \n\n\n q",
    "1 12 123 1234 12345 ½²Ⅷ ٣٤٥", "a1b22c333", "!!??.. ;;;\n\n;;x", " !x ?y", "don't can't we'll I'm he'd 't 's", "'", "''s", "e\u200dx \u200b \ufeff",
    "👍🏽 👨\u200d👩\u200d👧 🇩🇪", "東京都 京", "привет мир", "مرحبا ١٢", "ไทย ภาษา", "नमस्ते", "한국어 조선말", "Grüße aus Köln",
    "dog dogs hotdog dog_ dog- dogdog édog dog\u0301 dog\u200d dog٣", "  <b>  x<b>y  <b>", "q   <r>   r<r>s <r>\n\n<r>", "a x   x b", "y   x",
    "ababa xabab aba ab", "Day day DAY Monday", "e\u0301!x \u00e9!y", "<é> <｜m｜> <|endoftext|>", "[MASK][MASK]  [MASK]\n[MASK]",
    "<|mask|> <| mask|> <|mask |>", "A.\u0378b \ue000 \U000f0000", "\U0001f600\U00010d40\U00010d50\u1c89", "a,b.c!d?e n't do not 's 've 're ' '",
    "x" * 99 + " " + "y" * 100 + " " + "z" * 101, "e" + "\u0316\u0301\u0327" * 14 + "s\u0323\u0307", "x\u1df6\u0301\u08cc\u0316 a\u07fd\u0300 \U00011938 \U00011935\U00011930", "unaffable unaffably", "antidisestablishmentarianism", "\ufffd x \ufffd",
]
BROKEN = [b"a\xffb", b"\xe2\x82", b"\xe2\x82\xe2\x82\xac\xf0\x9f", b"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80x", b"ok \xc3( \xa0\xa1 \xf8\x88\x80\x80\x80", b"\xe0\x80\xaf \xf0\x9f\x98 z"]
LONG = [("a", 200_000), (" ", 20_000), ("\n", 20_000), ("-", 20_000), ("é", 5_000), ("ab ", 5_000), ("<r>  ", 500), ("1", 5_000), ("dog", 5_000)]


def added(content, **flags):
    return dict(dict(content=content, single_word=False, lstrip=False, rstrip=False, normalized=False, special=False), **flags)


def with_added(d, tokens):
    """Appends added tokens, numbered as the library numbers them."""
    vocab = d["model"]["vocab"]
    last = -1
    d["added_tokens"] = []
    for t in tokens:
        i = vocab.get(t["content"], max(len(vocab), last + 1))
        last = max(last, i)
        d["added_tokens"].append(dict(id=i, **t))
    return d


def byte_level(expr, merges, pre):
    t = Tokenizer(models.BPE())
    split = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expr), "isolated"), split])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=256 + merges, initial_alphabet=alphabet, show_progress=False))
    d = json.loads(t.to_str())
    level = dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=pre == "ByteLevel")
    d["pre_tokenizer"] = level
    if pre == "Split":
        step = dict(type="Split", pattern={"Regex": expr}, behavior="Isolated", invert=False)
        d["pre_tokenizer"] = dict(type="Sequence", pretokenizers=[step, level])
    d["decoder"] = dict(level, use_regex=True)
    return d


def gpt2(**level):
    d = byte_level(GPT2, 120, "ByteLevel")
    d["pre_tokenizer"].update(level)
    d["model"]["merges"] = [" ".join(m) for m in d["model"]["merges"]]
    return with_added(d, [
        added("<|endoftext|>", special=True), added("[MASK]", special=True, lstrip=True), added("<r>", rstrip=True),
        added("<b>", lstrip=True, rstrip=True), added("dogs", single_word=True, normalized=True), added(" x", rstrip=True), added("aba"), added("abab"),
        added("<é>"), added("<｜m｜>", special=True), added("      ", normalized=True), added("Day", normalized=True),
    ])


def llama3():
    d = byte_level(LLAMA3, 120, "Split")
    # Without some of the merges, ignore_merges is what makes whole words one token.
    d["model"]["merges"] = [m for i, m in enumerate(d["model"]["merges"]) if i < 20 or i % 3]
    vocab, keep = d["model"]["vocab"], []
    for a, b in d["model"]["merges"]:
        if a in vocab and b in vocab:
            keep.append([a, b])
    d["model"].update(merges=keep, ignore_merges=True)
    return with_added(d, [added("<|begin_of_text|>", special=True), added("<|endoftext|>", special=True), added("[MASK]", special=True)])


def qwen():
    d = byte_level(QWEN, 120, "Split")
    d["normalizer"] = dict(type="NFC")
    return with_added(d, [added("<|endoftext|>", special=True), added("e\u0301!", normalized=True), added("dogs", normalized=True, lstrip=True), added("<|mask|>", special=True)])


def bailing(expr=BAILING):
    d = byte_level(expr, 120, "Split")
    d["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = expr
    return with_added(d, [added("<|endoftext|>", special=True), added("[gMASK]", special=True), added("<|mdm_mask|>", special=True)])


def lacking(fuse):
    """GPT-2's with an unknown token in place of all bytes above 0x7f, of some letters and of the newline."""
    d = gpt2()
    m = d["model"]
    lost = {c for c in m["vocab"] if len(c) == 1 and (ord(c) > 126 and c != "Ġ" or c in "qz?1")}
    words = [w for w in m["vocab"] if not lost & set(w)]
    m.update(vocab={w: i for i, w in enumerate(["<unk>"] + words)}, unk_token="<unk>", fuse_unk=fuse)
    m["merges"] = [x for x in m["merges"] if not lost & set(x)]
    return with_added(d, [added("<|endoftext|>", special=True), added("[MASK]", special=True)])


def wordpiece():
    words = "[PAD] [UNK] [CLS] [SEP] [MASK] the fox dog s a b c d e x y z and to it late day was long mask cafe resume un ##aff ##able ##ly ##s ##x ##a ##b ##e"
    words += " . , ! ? ' - ; : [ ] < > | ( ) 東 京 n ##t do not ve re 1 ##1 12 ##2 ##3 ##4 monday i ##̇ ß σ ##ι ##σ ##υ ##φ ##ο ##ς مر ##ح pri ##cls cls sep"
    vocab = {w: i for i, w in enumerate(dict.fromkeys(words.split()))}
    d = dict(version="1.0", truncation=None, padding=None, added_tokens=[],
             normalizer=dict(type="BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True),
             pre_tokenizer=dict(type="BertPreTokenizer"), post_processor=None, decoder=dict(type="WordPiece", prefix="##", cleanup=True),
             model=dict(type="WordPiece", unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=100, vocab=vocab))
    return with_added(d, [added(w, special=True) for w in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")] +
                      [added("Day", normalized=True, single_word=True), added("<r>", rstrip=True)])


def random_strings(rng, count):
    parts = list("abcdexyz  \n\t'-.,!?A1239é") + ["\r\n", "  ", "'s", "'LL", "the", " fox", "dog", "dogs", "[MASK]", "<r>", "<b>", " x", "aba", "Day", "e\u0301", "\u0301",
             "\u00a0", "\u2003", "東", "👍", "ſ", "İ", "<|endoftext|>", "[CLS]", "Việt", "—", "½", "\x00", "\u200b", "\ufffd", "[", "]", "<|", "|>"]
    return ["".join(rng.choice(parts) for _ in range(rng.randint(1, 14))) for _ in range(count)]


def digest(ids):
    return hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()


def vectors(d, seed):
    rng = random.Random(seed)
    t = Tokenizer.from_str(json.dumps(d))
    bare = Tokenizer.from_str(json.dumps(dict(d, added_tokens=[])))
    marks = {a["id"] for a in d["added_tokens"]}
    encode = lambda t, s: t.encode(s, add_special_tokens=False).ids
    out = dict(schema="mdmgen.tokens/1", library="tokenizers " + tokenizers.__version__, strings=[], long=[], ids=[])
    for s in CASES + random_strings(rng, 60) + BROKEN:
        item = dict(base64=base64.b64encode(s).decode()) if isinstance(s, bytes) else dict(text=s)
        if isinstance(s, bytes):
            s = s.decode("utf-8", errors="replace")
        ids, plain = encode(t, s), encode(bare, s)
        item.update(ids=ids)
        decoded = t.decode(ids, skip_special_tokens=False)
        if decoded != s:
            item.update(decoded=decoded)
        # Without its added tokens the library is what plain encoding must give,
        # as long as no word of the vocabulary is an added token.
        unk = d["model"].get("unk_token")
        if (set(plain) - {d["model"]["vocab"].get(unk)}) & marks:
            item.update(ids_plain=None)
        elif plain != ids:
            item.update(ids_plain=plain)
        out["strings"].append(item)
    for part, times in LONG:
        ids = encode(t, part * times)
        out["long"].append(dict(part=part, times=times, count=len(ids), sha256=digest(ids)))
    size = t.get_vocab_size()
    for _ in range(30):
        ids = [rng.randrange(size) for _ in range(rng.randint(1, 8))]
        out["ids"].append(dict(ids=ids, decoded=t.decode(ids, skip_special_tokens=False), without_special=t.decode(ids, skip_special_tokens=True)))
    return out


def write(name, obj):
    """One element of each list a line, so that differences can be read."""
    flat = lambda v: json.dumps(v, ensure_ascii=False, separators=(",", ":"))
    fields = []
    for k, v in obj.items():
        if isinstance(v, list) and v:
            v = "[\n" + ",\n".join(flat(x) for x in v) + "\n]"
        else:
            v = flat(v)
        fields.append(json.dumps(k) + ":" + v)
    with open(name, "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(fields) + "\n}\n")


def classes():
    """The character classes of the library, as ranges of code points."""
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]

    def ranges(pred):
        out = []
        for c in points:
            if pred(chr(c)):
                if out and out[-1][1] == c - 1:
                    out[-1][1] = c
                else:
                    out.append([c, c])
        return " ".join("%x" % a if a == b else "%x-%x" % (a, b) for a, b in out)

    def cls(expr):
        split = pre_tokenizers.Split(Regex(expr), "isolated")
        return ranges(lambda c: len(split.pre_tokenize_str(c + c)) == 2)

    def norm(**on):
        flags = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
        n = normalizers.BertNormalizer(**dict(flags, **on))
        return lambda c: n.normalize_str(c)

    bert = BertPreTokenizer()
    lower, clean, han, strip = norm(lowercase=True), norm(clean_text=True), norm(handle_chinese_chars=True), norm(strip_accents=True)
    return dict(
        library="tokenizers " + tokenizers.__version__, letter=cls(r"\p{L}"), number=cls(r"\p{N}"), space=cls(r"\s"),
        bert_punct=ranges(lambda c: len(bert.pre_tokenize_str("a" + c + "a")) == 3),
        bert_removed=ranges(lambda c: clean(c) == ""), bert_han=ranges(lambda c: len(han(c)) == 3), bert_marks=ranges(lambda c: strip(c) == ""),
        lower_sha256=hashlib.sha256("".join(lower(chr(c)) for c in points).encode()).hexdigest(),
    )


if __name__ == "__main__":
    made = dict(gpt2=gpt2(), prefix=gpt2(add_prefix_space=True), llama3=llama3(), qwen=qwen(), bailing=bailing(), cl100k=bailing(CL100K), wordpiece=wordpiece(),
                lacking=lacking(False), fusing=lacking(True))
    for seed, (name, d) in enumerate(made.items()):
        with open(name + ".tokenizer.json", "w", encoding="utf-8") as f:
            json.dump(d, f, ensure_ascii=False, separators=(",", ":"))
            f.write("\n")
        write(name + ".vectors.json", vectors(d, seed))
    write("classes.json", classes())
