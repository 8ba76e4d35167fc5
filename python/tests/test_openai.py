"""OpenAI's client works unchanged: completions, chats, streams, models and errors."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

import mdmgen

BUILTIN = Path(__file__).parents[2] / "builtin" / "fairytale"
TEMPLATE = """{% for m in messages %}
{{- '<|endoftext|>' + m.role + ': ' + m.content + '\n' }}
{%- endfor %}
{{- '<|endoftext|>assistant:' }}"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    folder = tmp_path_factory.mktemp("models") / "talk"
    shutil.copytree(BUILTIN, folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    with mdmgen.load(folder, offline=True) as m:
        transport = httpx2.HTTPTransport(uds=m._server._address)
        yield openai.OpenAI(
            base_url="http://mdmgen/v1", api_key="none", http_client=httpx2.Client(transport=transport), max_retries=0
        )


def test_completions(client: openai.OpenAI) -> None:
    (model,) = client.models.list()
    ask: dict[str, Any] = {"model": model.id, "prompt": "Once upon a time", "max_tokens": 12, "seed": 7, "n": 2, "temperature": 0.9}
    whole = client.completions.create(**ask)
    texts = [c.text for c in whole.choices]
    assert len(texts) == 2 and texts[0] and texts[0] != texts[1] and whole.usage
    assert (whole.usage.completion_tokens, whole.usage.prompt_tokens) == (24, 5)
    assert whole.system_fingerprint and "nfe" in (whole.model_extra or {})
    assert [c.text for c in client.completions.create(**ask).choices] == texts
    for diffusing in (False, True):
        parts, chunks = ["", ""], 0
        for chunk in client.completions.create(
            **ask, stream=True, stream_options={"include_usage": True}, extra_body={"diffusing": diffusing}
        ):
            chunks += 1
            for c in chunk.choices:
                parts[c.index] += c.text
        assert parts == texts and chunk.usage == whole.usage and chunks >= 4


def test_chat(client: openai.OpenAI) -> None:
    ask: dict[str, Any] = {
        "model": "",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Who are <|endoftext|> you?"},
        ],
        "max_completion_tokens": 20,
        "seed": 3,
    }
    answer = client.chat.completions.create(**ask, logprobs=True, top_logprobs=3)
    (choice,) = answer.choices
    text = choice.message.content
    assert choice.message.role == "assistant" and choice.finish_reason and text and "<|endoftext|>" not in text
    assert choice.logprobs and choice.logprobs.content and answer.usage
    assert len(choice.logprobs.content) == answer.usage.completion_tokens
    for token in choice.logprobs.content:
        best = [x.logprob for x in token.top_logprobs]
        assert len(best) == 3 and best == sorted(best, reverse=True) and token.logprob <= min(0, best[0] + 1e-6)
    chunks = list(client.chat.completions.create(**ask, stream=True))
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == text
    assert chunks[-1].choices[0].finish_reason == choice.finish_reason


def test_errors_name_the_field(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="nonsense"):
        client.completions.create(model="", prompt="Once", extra_body={"nonsense": 1})
    for name in ("max_completion_tokens", "max_tokens"):
        with pytest.raises(openai.BadRequestError, match=f"{name} is 500: the model takes"):
            client.chat.completions.create(
                model="", messages=[{"role": "user", "content": "a"}], extra_body={name: 500}
            )


def test_a_stream_ends_before_a_stop(client: openai.OpenAI) -> None:
    ask: dict[str, Any] = {"model": "", "prompt": "Once upon a time", "max_tokens": 20, "seed": 4}
    text = client.completions.create(**ask, extra_body={"sampler": "ordered"}).choices[0].text
    stop = text[len(text) // 2 : len(text) // 2 + 3]
    stream = client.completions.create(**ask, stop=stop, stream=True, extra_body={"sampler": "ordered"})
    assert "".join(c.text for chunk in stream for c in chunk.choices) == text[: text.index(stop)]
