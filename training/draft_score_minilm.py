import sys,os,json; sys.path[:0]=['/tmp/w/encoders/src','/tmp/w/encoders']
os.environ['DOWSE_HOME']='/tmp/train/home'
from pathlib import Path
import numpy as np, statistics, math
from bench import quality
from dowse.searching import constants
from dowse.searching.candidates import gather, Scope, Balance
from dowse.searching.query import parse
from dowse.searching.ranking import leg_scores,promising,rank
folder=sys.argv[1]; name=sys.argv[2]
raw=b''.join(open(f,'rb').read() for f in sorted(Path(folder).glob('vec.part.*')))
V=np.frombuffer(raw,np.int8).reshape(-1,384).astype(np.float32); V/=np.linalg.norm(V,axis=1,keepdims=True)
keys=json.load(open('/tmp/train/evalkeys.json'))
qv={k[1]:V[i] for i,k in enumerate(keys) if k[0]=='q'}
class E:
    version=name; dimensions=384
    def encode(self,texts): return np.array([qv[t] for t in texts])
enc=E()
Q=quality.code_search(Path('/work/shared/eval/code-search'))
stores={}
for n in sorted({q.corpus for q in Q}):
    p=quality.opened(Path('/tmp/cs')/n); s=p.store; stores[n]=s
    if not s.noted(name):
        s.put_vectors(name,[(k[1],V[i]) for i,k in enumerate(keys) if k[0]==n]); s.note(name,'1')
def run(weights,balance=None):
    by={};cat={}
    with quality.changed({'VECTOR_WEIGHT':weights}):
        for q in Q:
            s=stores[q.corpus]
            e=gather(s,parse(q.text),Scope(),enc,balance)
            if e is None: v=0
            else:
                sc=leg_scores(e.legs); d=s.documents_by_id(promising(e,sc,constants.RANKED_FILES))
                f=rank(e,sc,{k:x.path for k,x in d.items()})
                v=quality.ndcg([d[x.document_id].path for x in f[:10]],q.answers)
            by.setdefault(q.corpus,[]).append(v);cat.setdefault(q.category,[]).append(v)
    return round(statistics.mean(statistics.mean(v) for v in by.values()),4),{k:round(statistics.mean(v),3) for k,v in cat.items()}
for p in (0.8,1.2,1.6,2.0):
    for sy in (0.3,0.6):
        print(p,sy,run({'symbol':sy,'path':0.3,'prose':p}),flush=True)
print('dense alone',run({'symbol':1,'path':1,'prose':1.0},Balance('vector')))
# scifact dense
docs=[(k[1],i) for i,k in enumerate(keys) if k[0]=='scifact']; D=V[[i for _,i in docs]]
sq={k[1]:V[i] for i,k in enumerate(keys) if k[0]=='sq'}
ans={}
for line in open('/work/shared/eval/scifact/qrels.tsv').read().splitlines()[1:]:
    a,b,g=line.split('\t'); ans.setdefault(a,{})[b]=int(g)
tot=[]
for a,g in ans.items():
    o=np.argsort(-(D@sq[a]))[:10]; ids=[docs[j][0] for j in o]
    gain=sum((2**g.get(x,0)-1)/math.log2(r+2) for r,x in enumerate(ids)); best=sum((2**v-1)/math.log2(r+2) for r,v in enumerate(sorted(g.values(),reverse=True)[:10])); tot.append(gain/best)
print('scifact dense',round(statistics.mean(tot),4))
